#include "vlbi/snapshot.h"

#include <cmath>
#include <set>

#include "core/error.h"

namespace penumbra::vlbi {

Snapshot::Snapshot(const Observation& observation, size_t begin, size_t end) {
  std::set<int> present;
  for (size_t k = begin; k < end; ++k) {
    const auto& visibility = observation.visibilities[k];
    const double size = std::abs(visibility.value);
    if (!(size > 0) || !std::isfinite(size) || !std::isfinite(visibility.sd)) continue;
    const std::pair baseline(visibility.first, visibility.second);
    if (rows_.contains(baseline) || rows_.contains({baseline.second, baseline.first}))
      input_error("closures: baseline {}-{} at {:.6f} h: expected one visibility, found several", baseline.first,
                  baseline.second, visibility.time);
    columns_.emplace(k, rows_.size());
    rows_.emplace(baseline, static_cast<int64_t>(k));
    present.insert({visibility.first, visibility.second});
  }
  stations_.assign(present.begin(), present.end());
}

std::optional<Leg> Snapshot::leg(int a, int b) const {
  if (const auto found = rows_.find({a, b}); found != rows_.end()) return Leg{found->second, 1};
  if (const auto found = rows_.find({b, a}); found != rows_.end()) return Leg{found->second, -1};
  return std::nullopt;
}

/// Two colours are spread from station to station; a component has an odd cycle where they meet.
Snapshot::Components Snapshot::components() const {
  Components result;
  std::map<int, int> colour;
  for (const int start : stations_) {
    if (colour.contains(start)) continue;
    bool odd = false;
    std::vector<int> open{start};
    colour[start] = 0;
    while (!open.empty()) {
      const int a = open.back();
      open.pop_back();
      for (const int b : stations_) {
        if (b == a || !leg(a, b)) continue;
        if (colour.emplace(b, 1 - colour[a]).second)
          open.push_back(b);
        else if (colour[b] == colour[a])
          odd = true;
      }
    }
    ++result.all;
    result.odd += odd;
  }
  return result;
}

std::vector<Snapshot> snapshots(const Observation& observation) {
  std::vector<Snapshot> result;
  const auto& rows = observation.visibilities;
  for (size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
    while (end < rows.size() && rows[end].time == rows[begin].time) ++end;
    result.emplace_back(observation, begin, end);
  }
  return result;
}

}  // namespace penumbra::vlbi
