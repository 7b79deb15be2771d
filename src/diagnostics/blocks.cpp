#include "diagnostics/blocks.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "core/error.h"

namespace penumbra::diagnostics {

Tensor by_blocks(const Tensor& draws, const Statistic& statistic) {
  if (draws.dim() < 2 || draws.numel() == 0)
    input_error("diagnostics: expected draws [records, chains, ...], found {}", describe(draws.sizes()));
  // 2^21 numbers are 16 MiB; the statistics hold a few copies, or a few hundred numbers a pixel.
  const auto fit = (int64_t{1} << 21) / (draws.size(0) * draws.size(1));
  const auto per_block = std::clamp<int64_t>(fit, 1, 1 << 14);
  const auto all = draws.detach().reshape({draws.size(0), draws.size(1), -1});
  std::vector<Tensor> results;
  for (int64_t first = 0; first < all.size(2); first += per_block) {
    const auto block = all.narrow(2, first, std::min(per_block, all.size(2) - first));
    results.push_back(statistic(block.to(at::kCPU, at::kDouble).contiguous()));
  }
  const auto joined = at::cat(results, -1);
  auto shape = joined.sizes().slice(0, joined.dim() - 1).vec();
  shape.insert(shape.end(), draws.sizes().begin() + 2, draws.sizes().end());
  return joined.reshape(shape);
}

Tensor is_constant(const Tensor& block) { return block.amax({0, 1}) == block.amin({0, 1}); }

Tensor is_finite(const Tensor& block) { return block.isfinite().flatten(0, 1).all(0); }

Tensor variance(const Tensor& x, int64_t dim) { return x.var(at::IntArrayRef(dim), true); }

}  // namespace penumbra::diagnostics
