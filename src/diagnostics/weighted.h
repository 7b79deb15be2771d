/// Mean, SD and quantiles of draws whose chains count differently: chains that came to a mode more often than the
/// posterior does.
#pragma once

#include <vector>

#include "core/tensor.h"

namespace penumbra::diagnostics {

struct WeightedMoments {
  Tensor mean, sd;  ///< [C, H, W], float64
};

/// draws [T, chains, C, H, W]; a weight >= 0 for each chain, shared by its draws, with a sum > 0. The variance is
/// divided by 1 - sum w^2, (N - 1)/N for equal weights; NaN for a single draw.
WeightedMoments weighted_moments(const Tensor& draws, const std::vector<double>& weights);

/// [Q, C, H, W]: linear between the order statistics, x_(i) at (S_i - w_i/2 - w_1/2) / (1 - w_1/2 - w_N/2), S_i the
/// weights up to and with i. With equal weights that is (i - 1)/(N - 1), as in quantiles().
Tensor weighted_quantiles(const Tensor& draws, const std::vector<double>& weights,
                          const std::vector<double>& probabilities);

}  // namespace penumbra::diagnostics
