#include "diagnostics/weighted.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error.h"
#include "diagnostics/blocks.h"

namespace penumbra::diagnostics {
namespace {

/// [T * chains], with sum 1; in the order of draws flattened over both.
Tensor draw_weights(const Tensor& draws, const std::vector<double>& weights) {
  if (draws.dim() < 2 || draws.size(1) != static_cast<int64_t>(weights.size()))
    input_error("weighted statistics: expected draws of {} chains, as there are weights, found {}", weights.size(),
                describe(draws.sizes()));
  double sum = 0;
  for (const auto w : weights) {
    if (!(w >= 0) || !std::isfinite(w)) input_error("weighted statistics: {:g} is no weight; expected >= 0", w);
    sum += w;
  }
  if (!(sum > 0)) input_error("weighted statistics: expected weights with a sum > 0, found {:g}", sum);
  const auto records = draws.size(0);
  return at::tensor(weights, at::kDouble).repeat({records}) / (sum * static_cast<double>(records));
}

/// At p, of one pixel: values sorted, `at` rising from 0 to 1.
double interpolate(const double* at, const double* value, int64_t count, double p) {
  const auto above = std::lower_bound(at, at + count, p) - at;
  if (above == 0) return value[0];
  if (above == count) return value[count - 1];
  const double width = at[above] - at[above - 1];
  return value[above - 1] + (width > 0 ? (p - at[above - 1]) / width : 1) * (value[above] - value[above - 1]);
}

}  // namespace

WeightedMoments weighted_moments(const Tensor& draws, const std::vector<double>& weights) {
  const auto w = draw_weights(draws, weights);
  const double unbiased = 1 - w.square().sum().item<double>();
  const auto both = by_blocks(draws, [&](const Tensor& block) {
    const auto x = block.flatten(0, 1);  // [N, pixels]
    const auto mean = w.unsqueeze(0).mm(x).squeeze(0);
    const auto variance = w.unsqueeze(0).mm((x - mean).square()).squeeze(0) / unbiased;
    return at::stack({mean, unbiased > 0 ? variance.sqrt() : at::full_like(mean, NAN)});
  });
  return {both[0], both[1]};
}

Tensor weighted_quantiles(const Tensor& draws, const std::vector<double>& weights,
                          const std::vector<double>& probabilities) {
  const auto w = draw_weights(draws, weights);
  return by_blocks(draws, [&](const Tensor& block) {
    // A draw of weight 0 is not there.
    const auto heavy = w.gt(0).nonzero().squeeze(1);
    const auto x = block.flatten(0, 1).index_select(0, heavy).t().contiguous();
    const auto [sorted, order] = x.sort(1);
    const auto own = w.index_select(0, heavy).index({order});  // [pixels, N]
    const auto first = own.narrow(1, 0, 1) / 2, last = own.narrow(1, own.size(1) - 1, 1) / 2;
    const auto places = ((own.cumsum(1) - own / 2 - first) / (1 - first - last)).contiguous();
    const auto count = sorted.size(1), pixels = sorted.size(0);
    auto result = at::empty({static_cast<int64_t>(probabilities.size()), pixels}, at::kDouble);
    for (size_t q = 0; q < probabilities.size(); ++q)
      for (int64_t i = 0; i < pixels; ++i)
        result.data_ptr<double>()[static_cast<int64_t>(q) * pixels + i] = interpolate(
            places.data_ptr<double>() + i * count, sorted.data_ptr<double>() + i * count, count, probabilities[q]);
    return result;
  });
}

}  // namespace penumbra::diagnostics
