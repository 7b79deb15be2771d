/// Two ways for two maps to be alike.
#pragma once

#include <optional>

#include "core/tensor.h"

namespace penumbra::diagnostics {

/// Structural similarity of two images [C, H, W] (Wang, Bovik, Sheikh and Simoncelli, IEEE TIP 13, 2004): Gaussian
/// window of 11 x 11 pixels and SD 1.5, K1 = 0.01, K2 = 0.03, mean over the windows that lie inside the image and over
/// the channels. None for images smaller than the window.
std::optional<double> ssim(const Tensor& a, const Tensor& b, double data_range);

/// Spearman's rank correlation, equal values sharing their mean rank. None where one of them is constant.
std::optional<double> rank_correlation(const Tensor& a, const Tensor& b);

}  // namespace penumbra::diagnostics
