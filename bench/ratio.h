/// A benchmark that prints a ratio to a named reference measured in the same run, alternating between the two.
#pragma once

#include <benchmark/benchmark.h>

#include <chrono>

namespace penumbra::bench {

template <typename Function>
double seconds(Function&& f) {
  const auto start = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The reported time is ours; the counters hold the reference's time and ours over it.
template <typename Ours, typename Reference>
void compare(benchmark::State& state, Ours&& ours, Reference&& reference) {
  ours();
  reference();
  double ours_total = 0, reference_total = 0;
  for (auto _ : state) {
    const double now = seconds(ours);
    state.SetIterationTime(now);
    ours_total += now;
    reference_total += seconds(reference);
  }
  state.counters["reference_ms"] = 1e3 * reference_total / static_cast<double>(state.iterations());
  state.counters["ratio"] = ours_total / reference_total;
}

}  // namespace penumbra::bench
