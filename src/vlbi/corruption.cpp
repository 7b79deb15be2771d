#include <ATen/ATen.h>

#include <cmath>
#include <numbers>

#include "core/random.h"
#include "vlbi/synthesis.h"

namespace penumbra::vlbi {
namespace {

/// What each draw is for: iterations of the counter, so that one error more or less leaves the others as they are.
enum Draw : int64_t { noise, gain, gain_of_time, phase_of_time };

Tensor like(int64_t rows, int64_t columns) { return at::empty({1, rows, columns}, at::kDouble); }

/// The times' numbers, row by row.
std::vector<int64_t> time_numbers(const Observation& observation) {
  std::vector<int64_t> numbers;
  double last = NAN;
  int64_t number = -1;
  for (const auto& row : observation.visibilities) {
    if (row.time != last) ++number;
    last = row.time;
    numbers.push_back(number);
  }
  return numbers;
}

}  // namespace

void corrupt(Observation& observation, const Corruption& corruption, uint64_t seed) {
  auto& rows = observation.visibilities;
  if (rows.empty()) return;
  const auto count = static_cast<int64_t>(rows.size()), stations = static_cast<int64_t>(observation.stations.size());
  const auto times = time_numbers(observation);
  const auto draw = [&](Draw what, int64_t n, int64_t m) {
    return normal({seed, 0, what}, Stream::measurement, like(n, m)).squeeze(0);
  };
  const auto errors = draw(noise, count, 2);
  const auto constant = (1 + corruption.gain_sd * draw(gain, 1, stations));
  const auto gains =
      (constant * (1 + corruption.gain_sd_per_time * draw(gain_of_time, times.back() + 1, stations))).abs().sqrt();
  const auto phases =
      2 * std::numbers::pi *
      uniform({seed, 0, phase_of_time}, Stream::measurement, like(times.back() + 1, stations)).squeeze(0);
  const auto z = errors.accessor<double, 2>(), g = gains.accessor<double, 2>(), phi = phases.accessor<double, 2>();
  for (int64_t i = 0; i < count; ++i) {
    auto& row = rows[static_cast<size_t>(i)];
    const auto time = times[static_cast<size_t>(i)];
    if (corruption.thermal_noise) row.value += row.sd * std::complex(z[i][0], z[i][1]);
    const double gain = g[time][row.first] * g[time][row.second];
    row.value *= gain;
    row.sd *= gain;
    if (corruption.random_phases) row.value *= std::polar(1.0, phi[time][row.second] - phi[time][row.first]);
  }
}

}  // namespace penumbra::vlbi
