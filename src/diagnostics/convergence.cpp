#include "diagnostics/convergence.h"

#include <ATen/ATen.h>

#include <cmath>

#include "core/error.h"
#include "diagnostics/blocks.h"

namespace penumbra::diagnostics {
namespace {

// 0/0 and x/0 have a meaning here: nothing moves at all, or nothing moves within while the means differ.
Tensor sqrt_ratio(const Tensor& above, const Tensor& below, const Tensor& constant) {
  return at::where(constant, at::ones_like(below), (above / below).sqrt());
}

double normal_quantile(double p) {
  double low = -40, high = 40;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (0.5 * std::erfc(-middle / std::sqrt(2.0)) < p ? low : high) = middle;
  }
  return (low + high) / 2;
}

// Paulson's approximation (Annals of Mathematical Statistics 13, 1942): F^(1/3) is a ratio of two almost normal
// numbers, of means 1 - a, 1 - b and variances a, b. Good to a percent from about five degrees of freedom below.
double f_quantile(double above, double below, double p) {
  const double z = normal_quantile(p), a = 2 / (9 * above), b = 2 / (9 * below);
  const double root = std::sqrt((1 - b) * (1 - b) * a + (1 - a) * (1 - a) * b - z * z * a * b);
  const double cube_root = ((1 - a) * (1 - b) + z * root) / ((1 - b) * (1 - b) - z * z * b);
  return cube_root * cube_root * cube_root;
}

}  // namespace

Tensor split_rhat(const Tensor& draws) {
  if (draws.dim() < 2 || draws.size(0) < 4)
    input_error("split R-hat: expected 4 records or more, found draws {}", describe(draws.sizes()));
  return by_blocks(draws, [](const Tensor& block) {
    const auto n = block.size(0) / 2;
    const auto halves = at::cat({block.narrow(0, 0, n), block.narrow(0, block.size(0) - n, n)}, 1);
    const auto within = variance(halves, 0).mean(0);
    const auto between = variance(halves.mean(0), 0);
    const auto total = within * (static_cast<double>(n - 1) / static_cast<double>(n)) + between;
    return sqrt_ratio(total, within, is_constant(block));
  });
}

Tensor nested_rhat(const Tensor& draws, int64_t superchains) {
  const auto chains = draws.dim() < 2 ? 0 : draws.size(1);
  const auto per_group = superchains < 2 ? 0 : chains / superchains;
  if (per_group < 1 || (per_group < 2 && draws.size(0) < 2))
    input_error("nested R-hat: expected 2 groups or more of 2 chains or more, found {} groups of draws {}", superchains,
                describe(draws.sizes()));
  return by_blocks(draws, [&](const Tensor& all) {
    const auto block = all.narrow(1, 0, superchains * per_group)
                           .reshape({all.size(0), superchains, per_group, all.size(2)});  // [T, K, M, pixels]
    const auto chain_means = block.mean(0);
    const auto between = variance(chain_means.mean(1), 0);
    auto within = at::zeros_like(between);
    if (per_group > 1) within += variance(chain_means, 1).mean(0);
    if (block.size(0) > 1) within += variance(block, 0).mean(at::IntArrayRef({0, 1}));
    return sqrt_ratio(within + between, within, is_constant(all));
  });
}

int64_t balanced_superchains(int64_t chains) {
  return static_cast<int64_t>(std::floor(std::sqrt(static_cast<double>(chains))));
}

double nested_rhat_null(int64_t chains_per_group, int64_t records) {
  const auto M = static_cast<double>(chains_per_group), T = static_cast<double>(records);
  return std::sqrt(1 + 1 / (records > 1 ? M * (T + 1) : M));
}

double nested_rhat_quantile(int64_t superchains, int64_t chains_per_group, double p) {
  const auto K = static_cast<double>(superchains), M = static_cast<double>(chains_per_group);
  return std::sqrt(1 + f_quantile(K - 1, K * (M - 1), p) / M);
}

}  // namespace penumbra::diagnostics
