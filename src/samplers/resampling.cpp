#include "samplers/resampling.h"

#include <ATen/ATen.h>

#include <cmath>
#include <vector>

namespace penumbra {
namespace {

/// exp(log_weight - largest), float64 on the CPU.
Tensor relative_weights(const Tensor& log_weight) {
  const auto l = log_weight.to(at::kCPU, at::kDouble);
  return (l - l.max()).exp();
}

}  // namespace

double effective_count(const Tensor& log_weight) {
  const auto w = relative_weights(log_weight);
  return std::pow(w.sum().item<double>(), 2) / w.square().sum().item<double>();
}

double log_mean_exp(const Tensor& log_weight) {
  return log_weight.max().item<double>() + std::log(relative_weights(log_weight).mean().item<double>());
}

Tensor systematic_resampling(const Tensor& log_weight, const Cursor& at) {
  const auto weights = relative_weights(log_weight).contiguous();
  const auto n = weights.size(0);
  const double* w = weights.data_ptr<double>();
  const double total = weights.sum().item<double>();
  const double u = uniform({at.seed, 0, at.k}, Stream::resample, at::empty({1, 1}, at::kDouble)).item<double>();
  // Sample i is taken as often as a comb of N teeth, moved by u, has teeth in its stretch of the weights.
  std::vector<int64_t> times(static_cast<size_t>(n));
  double sum = 0;
  int64_t tooth = 0;
  for (int64_t i = 0; i < n; ++i) {
    sum += w[i] * static_cast<double>(n) / total;
    while (tooth < n && (static_cast<double>(tooth) + u < sum || i == n - 1)) ++times[static_cast<size_t>(i)], ++tooth;
  }
  const auto chosen = at::empty({n}, at::kLong);
  auto* place = chosen.data_ptr<int64_t>();
  size_t spare = 0;
  for (int64_t i = 0; i < n; ++i) place[i] = times[static_cast<size_t>(i)] > 0 ? i : -1;
  for (auto& count : times) count -= count > 0;
  for (int64_t i = 0; i < n; ++i) {
    if (place[i] >= 0) continue;
    while (times[spare] == 0) ++spare;
    place[i] = static_cast<int64_t>(spare), --times[spare];
  }
  return chosen.to(log_weight.device());
}

}  // namespace penumbra
