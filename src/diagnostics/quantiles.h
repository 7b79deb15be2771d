/// Quantiles of every pixel over all draws: linear interpolation between order statistics, x_(h) at h = (N - 1) p
/// (type 7 of Hyndman and Fan, The American Statistician 50, 1996; the default of NumPy and R).
#pragma once

#include <vector>

#include "core/tensor.h"

namespace penumbra::diagnostics {

/// draws [T, chains, C, H, W], probabilities in [0, 1] -> [Q, C, H, W], float64.
Tensor quantiles(const Tensor& draws, const std::vector<double>& probabilities);

}  // namespace penumbra::diagnostics
