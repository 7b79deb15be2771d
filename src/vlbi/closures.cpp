#include "vlbi/closures.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "vlbi/independent_rows.h"
#include "vlbi/snapshot.h"

namespace penumbra::vlbi {
namespace {

constexpr size_t most_stations_at_once = 40;

using Triangle = std::array<int, 3>;
using Quadrangle = std::array<int, 4>;

template <size_t legs>
using Pairs = std::array<std::pair<int, int>, legs>;

Pairs<3> legs_of(const Triangle& s) { return {{{s[0], s[1]}, {s[1], s[2]}, {s[2], s[0]}}}; }
Pairs<4> legs_of(const Quadrangle& s) { return {{{s[0], s[1]}, {s[2], s[3]}, {s[0], s[3]}, {s[1], s[2]}}}; }

/// All that the stations admit; whether the baselines are there is asked later.
std::vector<Triangle> triangles(const std::vector<int>& s, bool with_first_only) {
  std::vector<Triangle> result;
  for (size_t i = 0; i < (with_first_only ? std::min<size_t>(s.size(), 1) : s.size()); ++i)
    for (size_t j = i + 1; j < s.size(); ++j)
      for (size_t k = j + 1; k < s.size(); ++k) result.push_back({s[i], s[j], s[k]});
  return result;
}

/// ehtim's independent set of a complete graph.
std::vector<Quadrangle> minimal_quadrangles(const std::vector<int>& s) {
  std::vector<Quadrangle> result;
  for (size_t i = 3; i < s.size(); ++i)
    for (size_t j = 1; j < i; ++j) result.push_back({s[0], s[i], s[j], s[j == i - 1 ? 1 : j + 1]});
  return result;
}

/// Every four stations in the three orders that give different quotients.
std::vector<Quadrangle> all_quadrangles(const std::vector<int>& s) {
  std::vector<Quadrangle> result;
  for (size_t i = 0; i < s.size(); ++i)
    for (size_t j = i + 1; j < s.size(); ++j)
      for (size_t k = j + 1; k < s.size(); ++k)
        for (size_t l = k + 1; l < s.size(); ++l)
          result.insert(result.end(), {{s[i], s[j], s[k], s[l]}, {s[i], s[k], s[j], s[l]}, {s[i], s[j], s[l], s[k]}});
  return result;
}

/// Amplitude and SD over amplitude of a leg of a log closure amplitude.
struct Amplitude {
  double log = 0, relative_sd = 0;
};

Amplitude amplitude_of(const Visibility& visibility, bool debias) {
  const double raw = std::abs(visibility.value), sd = visibility.sd;
  if (!debias) return {std::log(raw), sd / raw};
  const double amplitude = debiased(raw, sd, sd);
  // The second term is the logarithm's own bias, of the next order.
  return {std::log(amplitude) + 0.5 * sd * sd / (amplitude * amplitude), sd / amplitude};
}

void evaluate(ClosurePhase& closure, const Observation& observation, bool) {
  std::complex<double> product = 1;
  for (size_t leg = 0; leg < 3; ++leg) {
    const auto& visibility = observation.visibilities[static_cast<size_t>(closure.rows[leg])];
    const double size = std::abs(visibility.value);
    const auto unit = visibility.value / size;
    product *= closure.signs[leg] > 0 ? unit : std::conj(unit);
    closure.leg_sds[leg] = visibility.sd / size;
  }
  closure.value = std::arg(product);
}

void evaluate(LogClosureAmplitude& closure, const Observation& observation, bool debias) {
  for (size_t leg = 0; leg < 4; ++leg) {
    const auto& visibility = observation.visibilities[static_cast<size_t>(closure.rows[leg])];
    const auto [log, relative_sd] = amplitude_of(visibility, debias);
    closure.value += closure.signs[leg] * log;
    closure.leg_sds[leg] = relative_sd;
  }
}

/// A phase is conjugated with its baseline; an amplitude is in the numerator or the denominator.
int sign_of(const Closure<3>&, size_t, const Leg& leg) { return leg.sign; }
int sign_of(const Closure<4>&, size_t position, const Leg&) { return position < 2 ? 1 : -1; }

/// Those of the candidates whose baselines are all there.
template <size_t legs>
std::vector<Closure<legs>> closed(const std::vector<std::array<int, legs>>& candidates, const Snapshot& snapshot,
                                  const Observation& observation, bool debias) {
  std::vector<Closure<legs>> result;
  for (const auto& stations : candidates) {
    Closure<legs> closure;
    closure.stations = stations;
    const auto pairs = legs_of(stations);
    size_t found = 0;
    for (; found < legs; ++found) {
      const auto leg = snapshot.leg(pairs[found].first, pairs[found].second);
      if (!leg) break;
      closure.rows[found] = leg->row;
      closure.signs[found] = sign_of(closure, found, *leg);
    }
    if (found < legs) continue;
    evaluate(closure, observation, debias);
    for (const double sd : closure.leg_sds) closure.sd = std::hypot(closure.sd, sd);
    result.push_back(closure);
  }
  return result;
}

/// Greedy: of all independent sets this one has the least sum of variances, since independence is a matroid's.
template <size_t legs>
std::vector<Closure<legs>> best_independent(std::vector<Closure<legs>> closures, const Snapshot& snapshot) {
  std::stable_sort(closures.begin(), closures.end(), [](const auto& a, const auto& b) { return a.sd < b.sd; });
  IndependentRows design(snapshot.baselines());
  std::erase_if(closures, [&](const Closure<legs>& closure) {
    std::array<std::pair<size_t, int>, legs> entries;
    for (size_t leg = 0; leg < legs; ++leg)
      entries[leg] = {snapshot.column({closure.rows[leg], 1}), closure.signs[leg]};
    return !design.add(entries);
  });
  return closures;
}

template <typename T>
void append(std::vector<T>& all, std::vector<T> more) {
  all.insert(all.end(), more.begin(), more.end());
}

void append_closures(Closures& all, const Snapshot& snapshot, const Observation& observation,
                     const ClosureOptions& options) {
  const auto& stations = snapshot.stations();
  const bool minimal = options.rule == ClosureRule::ehtim_min;
  auto phases = closed(triangles(stations, minimal), snapshot, observation, options.debias);
  auto amplitudes = closed(minimal ? minimal_quadrangles(stations) : all_quadrangles(stations), snapshot, observation,
                           options.debias);
  if (options.rule == ClosureRule::complete) {
    phases = best_independent(std::move(phases), snapshot);
    amplitudes = best_independent(std::move(amplitudes), snapshot);
  }
  append(all.phases, std::move(phases));
  append(all.amplitudes, std::move(amplitudes));
}

}  // namespace

double debiased(double amplitude, double sd, double floor) {
  return amplitude > sd ? std::sqrt(amplitude * amplitude - sd * sd) : floor;
}

Closures form_closures(const Observation& observation, const ClosureOptions& options) {
  Closures closures;
  for (const auto& snapshot : snapshots(observation)) {
    if (snapshot.stations().size() > most_stations_at_once)
      input_error("closures: expected at most {} stations at one time, found {}", most_stations_at_once,
                  snapshot.stations().size());
    append_closures(closures, snapshot, observation, options);
  }
  return closures;
}

ClosureCounts independent_closures(const Observation& observation) {
  ClosureCounts counts;
  for (const auto& snapshot : snapshots(observation)) {
    const auto cycles = static_cast<int64_t>(snapshot.baselines()) - static_cast<int64_t>(snapshot.stations().size());
    const auto [all, odd] = snapshot.components();
    counts.phases += cycles + all;
    counts.amplitudes += cycles + all - odd;
  }
  return counts;
}

}  // namespace penumbra::vlbi
