#include "diagnostics/monte_carlo.h"

#include <ATen/ATen.h>

#include "diagnostics/blocks.h"

namespace penumbra::diagnostics {

Tensor mcse_mean(const Tensor& sd, const Tensor& ess) { return sd / ess.sqrt(); }

Tensor mcse_sd_relative(const Tensor& kurtosis, const Tensor& ess) { return ((kurtosis - 1) / (4 * ess)).sqrt(); }

Tensor kurtosis(const Tensor& draws) {
  return by_blocks(draws, [](const Tensor& block) {
    const auto x = block.flatten(0, 1);
    const auto squares = (x - x.mean(0)).square();
    const auto N = static_cast<double>(x.size(0));
    const auto ratio = squares.square().mean(0) / squares.mean(0).square() * ((N + 1) / (N - 1));
    return at::where(is_constant(block), at::full_like(ratio, 3), ratio.clamp(1.5, 30));
  });
}

}  // namespace penumbra::diagnostics
