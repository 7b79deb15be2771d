/// How far the maps of mean and SD may be off because the draws are finite: Monte-Carlo standard errors.
#pragma once

#include "core/tensor.h"

namespace penumbra::diagnostics {

/// Standard error of the mean: sd / sqrt(ess).
Tensor mcse_mean(const Tensor& sd, const Tensor& ess);

/// Standard error of the SD over the SD: sqrt((kurtosis - 1) / (4 ess)) by the delta method, 1 / sqrt(2 ess) for a
/// Gaussian. The ess is that of the mean; squares of positively correlated draws are less correlated than the draws,
/// so the error is rather stated too large.
Tensor mcse_sd_relative(const Tensor& kurtosis, const Tensor& ess);

/// Fourth central moment over the squared variance of each pixel, over all N draws [T, chains, ...]; times
/// (N + 1) / (N - 1), which makes it 3 on average for N Gaussian draws. Within [1.5, 30]: beyond, the estimate tells
/// more of single draws than of the law. 3 where nothing moves.
Tensor kurtosis(const Tensor& draws);

}  // namespace penumbra::diagnostics
