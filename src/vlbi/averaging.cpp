#include "vlbi/averaging.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "core/error.h"

namespace penumbra::vlbi {
namespace {

/// The mean of a baseline's rows in one scan.
struct Mean {
  Visibility sum;
  double count = 0, variance = 0;

  void add(const Visibility& row) {
    if (count == 0) {
      sum = row;
      sum.value = sum.u = sum.v = sum.seconds = 0;
    }
    ++count;
    sum.time = std::min(sum.time, row.time);
    sum.seconds += row.seconds;
    sum.u += row.u;
    sum.v += row.v;
    sum.value += row.value;
    variance += row.sd * row.sd;
  }
  Visibility row() const {
    auto mean = sum;
    mean.u /= count;
    mean.v /= count;
    mean.value /= count;
    mean.sd = std::sqrt(variance) / count;
    return mean;
  }
};

/// Arithmetic means, as ehtim's coherent average: not weighted by the SDs.
std::vector<Visibility> scan_means(const Observation& observation, const Preparation& preparation) {
  const auto scans = scan_table(observation, preparation.scan_gap);
  std::map<std::tuple<size_t, int, int>, Mean> means;
  size_t scan = 0;
  for (const auto& row : observation.visibilities) {
    while (row.time > scans[scan].second) ++scan;
    means[{scan, row.first, row.second}].add(row);
  }
  std::vector<Visibility> rows;
  for (const auto& [key, mean] : means) {
    rows.push_back(mean.row());
    if (preparation.scan_time == ScanTime::harmonised) rows.back().time = scans[std::get<0>(key)].first;
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Visibility& a, const Visibility& b) {
    return std::tie(a.time, a.first, a.second) < std::tie(b.time, b.first, b.second);
  });
  return rows;
}

int64_t count_of(const std::vector<Visibility>& rows) { return static_cast<int64_t>(rows.size()); }

/// How many it took away.
template <typename Keep>
int64_t keep_where(std::vector<Visibility>& rows, Keep keep, const std::string& why, const std::string& name) {
  const auto before = count_of(rows);
  std::erase_if(rows, [&](const Visibility& row) { return !keep(row); });
  if (rows.empty()) input_error("{}: {}: expected some to be left, found none of {}", name, why, before);
  return before - count_of(rows);
}

}  // namespace

Preparation preparation_setting(Settings& settings) {
  Preparation preparation;
  auto flags = settings.section("flag");
  preparation.flags = flags_setting(flags);
  preparation.average_scans = settings.choice("average", {"scan", "none"}, "scan") == "scan";
  if (preparation.average_scans) {
    preparation.scan_time = settings.choice("scan_time", {"harmonised", "ehtim"}, "harmonised") == "ehtim"
                                ? ScanTime::ehtim
                                : ScanTime::harmonised;
    preparation.scan_gap = settings.number("scan_gap", preparation.scan_gap, positive);
  }
  preparation.min_baseline = settings.number("min_baseline", preparation.min_baseline, not_negative);
  preparation.max_baseline = settings.number("max_baseline", preparation.max_baseline, not_negative);
  preparation.systematic_noise = settings.number("systematic_noise", preparation.systematic_noise, not_negative);
  preparation.min_snr = settings.number("min_snr", preparation.min_snr, not_negative);
  return preparation;
}

std::vector<std::pair<double, double>> scan_table(const Observation& observation, double gap_seconds) {
  std::vector<std::pair<double, double>> scans;
  for (const auto& row : observation.visibilities)
    if (scans.empty() || row.time - scans.back().second > gap_seconds / 3600)
      scans.emplace_back(row.time, row.time);
    else
      scans.back().second = row.time;
  return scans;
}

Observation prepare(const Observation& observation, const Preparation& preparation, const std::string& name) {
  auto prepared = observation;
  auto& rows = prepared.visibilities;
  auto& counts = prepared.preparation.emplace();
  counts.read = count_of(rows);
  if (!preparation.flags.keys().empty()) rows = unflagged(observation, preparation.flags, name);
  counts.flagged = counts.read - count_of(rows);
  if (preparation.average_scans) rows = scan_means(prepared, preparation);
  counts.averages = count_of(rows);
  counts.below_min_baseline = keep_where(
      rows, [&](const Visibility& row) { return std::hypot(row.u, row.v) >= preparation.min_baseline; },
      fmt::format("min_baseline {:g}: visibilities of longer baselines", preparation.min_baseline), name);
  if (preparation.max_baseline > 0)
    counts.above_max_baseline = keep_where(
        rows, [&](const Visibility& row) { return std::hypot(row.u, row.v) <= preparation.max_baseline; },
        fmt::format("max_baseline {:g}: visibilities of baselines from min_baseline {:g}", preparation.max_baseline,
                    preparation.min_baseline),
        name);
  for (auto& row : rows) row.sd = std::hypot(row.sd, preparation.systematic_noise * std::abs(row.value));
  if (preparation.min_snr > 0)
    counts.below_min_snr = keep_where(
        rows, [&](const Visibility& row) { return std::abs(row.value) > preparation.min_snr * row.sd; },
        fmt::format("min_snr {:g}: visibilities above their noise", preparation.min_snr), name);
  return prepared;
}

}  // namespace penumbra::vlbi
