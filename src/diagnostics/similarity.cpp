#include "diagnostics/similarity.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>

namespace penumbra::diagnostics {
namespace {

constexpr int64_t window_side = 11;
constexpr double window_sd = 1.5;

// [C, H, W] -> [C, H - 10, W - 10], windowed means. The window is a product, so rows and columns one after the other.
Tensor windowed(const Tensor& x) {
  const auto offset = at::arange(window_side, at::kDouble) - (window_side - 1) / 2;
  const auto weights = at::exp(-offset.square() / (2 * window_sd * window_sd));
  const auto window = (weights / weights.sum()).reshape({1, 1, 1, window_side});
  return at::conv2d(at::conv2d(x.unsqueeze(1), window), window.transpose(2, 3)).squeeze(1);
}

Tensor ranks(const Tensor& values) {
  const auto x = values.to(at::kCPU, at::kDouble).flatten().contiguous();
  const auto* value = x.data_ptr<double>();
  std::vector<int64_t> order(x.numel());
  std::iota(order.begin(), order.end(), int64_t{0});
  std::sort(order.begin(), order.end(), [&](int64_t i, int64_t j) { return value[i] < value[j]; });
  auto ranks = at::empty_like(x);
  auto* rank = ranks.data_ptr<double>();
  for (size_t first = 0, last = 0; first < order.size(); first = last) {
    while (last < order.size() && value[order[last]] == value[order[first]]) ++last;
    for (size_t i = first; i < last; ++i) rank[order[i]] = static_cast<double>(first + last - 1) / 2;
  }
  return ranks;
}

}  // namespace

std::optional<double> ssim(const Tensor& first, const Tensor& second, double data_range) {
  if (first.size(1) < window_side || first.size(2) < window_side || !(data_range > 0)) return {};
  const auto a = first.to(at::kCPU, at::kDouble), b = second.to(at::kCPU, at::kDouble);
  const double c1 = 0.01 * data_range * 0.01 * data_range, c2 = 0.03 * data_range * 0.03 * data_range;
  const auto mean_a = windowed(a), mean_b = windowed(b);
  const auto variances = windowed(a * a) - mean_a * mean_a + windowed(b * b) - mean_b * mean_b;
  const auto covariance = windowed(a * b) - mean_a * mean_b;
  const auto map = (2 * mean_a * mean_b + c1) * (2 * covariance + c2) /
                   ((mean_a * mean_a + mean_b * mean_b + c1) * (variances + c2));
  return map.mean().item<double>();
}

std::optional<double> rank_correlation(const Tensor& a, const Tensor& b) {
  // A NaN has no rank, and would break the order that sorting needs.
  if (!a.isfinite().all().item<bool>() || !b.isfinite().all().item<bool>()) return {};
  const auto x = ranks(a), y = ranks(b);
  const auto dx = x - x.mean(), dy = y - y.mean();
  const double scale = (dx.square().sum() * dy.square().sum()).sqrt().item<double>();
  if (!(scale > 0)) return {};
  return (dx * dy).sum().item<double>() / scale;
}

}  // namespace penumbra::diagnostics
