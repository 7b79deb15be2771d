#include "diagnostics/drift.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/random.h"
#include "diagnostics/blocks.h"

namespace penumbra::diagnostics {
namespace {

void require_enough(const Tensor& draws) {
  if (draws.dim() < 2 || draws.size(0) < 2 || draws.size(1) < 2)
    input_error("drift: expected 2 records or more of 2 chains or more, found draws {}", describe(draws.sizes()));
}

/// [chains, pixels]
Tensor changes(const Tensor& block) {
  const auto n = block.size(0) / 2;
  return block.narrow(0, block.size(0) - n, n).mean(0) - block.narrow(0, 0, n).mean(0);
}

// The first row leaves the signs as they are; the numbers are a function of the shape alone, so the p-value is too.
Tensor signs(int64_t chains) {
  const auto coins = uniform({0, 0, 0}, Stream::probe, at::empty({200, chains}, at::kDouble));
  auto signs = at::where(coins < 0.5, -at::ones_like(coins), at::ones_like(coins));
  signs[0].fill_(1);
  return signs;
}

}  // namespace

Tensor drift(const Tensor& draws) {
  require_enough(draws);
  return by_blocks(draws, [](const Tensor& block) {
    const auto d = changes(block);
    const auto error = (variance(d, 0) / static_cast<double>(d.size(0))).sqrt();
    return at::where(is_constant(block), at::zeros_like(error), d.mean(0) / error);
  });
}

EnsembleDrift ensemble_drift(const Tensor& draws) {
  require_enough(draws);
  const auto chains = draws.size(1);
  const auto flips = signs(chains);
  auto squared_t = at::zeros({flips.size(0)}, at::kDouble);
  double size = 0, pixels = 0;
  by_blocks(draws, [&](const Tensor& block) {
    const auto moving = is_finite(block).logical_and(is_constant(block).logical_not()).nonzero().flatten();
    const auto d = changes(block).index_select(1, moving);
    const auto sd_squared = variance(block.flatten(0, 1).index_select(1, moving), 0);
    const auto means = flips.matmul(d) / static_cast<double>(chains);  // [flips, pixels]
    const auto error_squared =
        (d.square().mean(0) - means.square()).clamp_min(1e-300) / static_cast<double>(chains - 1);
    squared_t += (means.square() / error_squared).sum(1);
    size += ((means[0].square() - error_squared[0]) / sd_squared).sum().item<double>();
    pixels += static_cast<double>(moving.numel());
    return at::zeros({block.size(2)}, at::kDouble);
  });
  if (pixels == 0) return {0, 1};
  const auto as_large = (squared_t >= squared_t[0]).to(at::kDouble).mean().item<double>();
  return {std::sqrt(std::max(size / pixels, 0.0)), as_large};
}

}  // namespace penumbra::diagnostics
