#include "diagnostics/quantiles.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "diagnostics/blocks.h"

namespace penumbra::diagnostics {

Tensor quantiles(const Tensor& draws, const std::vector<double>& probabilities) {
  if (probabilities.empty()) input_error("quantiles: no probability given");
  for (const auto p : probabilities)
    if (!(p >= 0 && p <= 1)) input_error("quantiles: {} is no probability; expected a number from 0 to 1", p);

  return by_blocks(draws, [&](const Tensor& block) {
    // Sorted along memory, which is several times faster than across it.
    const auto sorted = std::get<0>(block.flatten(0, 1).t().contiguous().sort(1));  // [pixels, N]
    const auto last = sorted.size(1) - 1;
    std::vector<Tensor> rows;
    for (const auto p : probabilities) {
      const auto h = static_cast<double>(last) * p;
      const auto below = std::min(static_cast<int64_t>(std::floor(h)), last);
      const auto low = sorted.select(1, below), high = sorted.select(1, std::min(below + 1, last));
      rows.push_back(low + (h - static_cast<double>(below)) * (high - low));
    }
    return at::stack(rows);
  });
}

}  // namespace penumbra::diagnostics
