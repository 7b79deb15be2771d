#include "app/bench/measure.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/cuda.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/random.h"

namespace penumbra::app {
namespace {

using Clock = std::chrono::steady_clock;

/// Milliseconds of `count` calls and the wait for their end.
double timed_group(const at::Device& device, int64_t count, const std::function<void()>& work) {
  const auto start = Clock::now();
  for (int64_t i = 0; i < count; ++i) work();
  if (device.is_cuda()) torch::cuda::synchronize(device.has_index() ? device.index() : -1);
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

double quantile(const std::vector<double>& sorted, double share) {
  return sorted[static_cast<size_t>(std::lround(share * static_cast<double>(sorted.size() - 1)))];
}

}  // namespace

Timing measure(const at::Device& device, double seconds, const std::function<void()>& work) {
  constexpr int64_t fewest_groups = 5, most_calls = 200;
  constexpr double group_ms = 50;  // long beside the wait for the device
  // Libraries choose their algorithms at the first calls.
  timed_group(device, device.is_cuda() ? 3 : 1, work);
  const double once = std::max(timed_group(device, 1, work), 1e-3);
  // Several in a group on a GPU, however long one takes: the host must be able to run ahead.
  const auto calls = std::clamp(static_cast<int64_t>(group_ms / once), int64_t{device.is_cuda() ? 4 : 1}, most_calls);
  std::vector<double> times;
  double total = 0;
  while (total < 1000 * seconds || static_cast<int64_t>(times.size()) < fewest_groups) {
    const double group = timed_group(device, calls, work);
    times.push_back(group / static_cast<double>(calls));
    total += group;
  }
  std::ranges::sort(times);
  return {quantile(times, 0.5), quantile(times, 0.1), quantile(times, 0.9)};
}

Peak measure_peak(const at::Device& device, at::ScalarType type, double seconds) {
  const int64_t n = device.is_cuda() ? 8192 : 1024;
  const auto like = at::empty({n, n}, at::TensorOptions().dtype(at::kFloat).device(device));
  const auto matrix = [&](int64_t k) { return normal({1, 0, k}, Stream::probe, like).to(type); };
  const auto a = matrix(0), b = matrix(1);
  auto c = at::empty_like(a);
  const auto timing = measure(device, seconds, [&] { at::mm_out(c, a, b); });
  return {2e-9 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n) / timing.median,
          fmt::format("{0} product of {1}x{1} matrices", type == at::kFloat ? "float32" : "bfloat16", n)};
}

}  // namespace penumbra::app
