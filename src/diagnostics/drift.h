/// Is the ensemble still moving? A test of stationarity for many chains with independent starts, of any length above
/// one record and of any correlation: chain c gives one independent number a pixel, its change
/// d_c = mean of the later half of its records - mean of the earlier half, and stationary chains change by 0 on
/// average.
#pragma once

#include "core/tensor.h"

namespace penumbra::diagnostics {

/// Student's t of the changes of each pixel, mean(d) / (sd(d) / sqrt(chains)), from draws [T, chains, ...]: t with
/// chains - 1 degrees of freedom for stationary chains. 0 where nothing moves. T >= 2, chains >= 2.
Tensor drift(const Tensor& draws);

struct EnsembleDrift {
  double size;  ///< root mean square over the pixels of mean(d) / sd(draws), less what chance adds
  double p;     ///< probability of a drift as large by chance
};

/// All pixels together. The p-value is that of a sign-flip test (Fisher 1935; 199 flips, so never below 0.005): the
/// law of d is symmetric for stationary reversible chains, and a chain's pixels flip together, so that their
/// correlation, which nobody knows, is accounted for. Pixels that do not move or are not finite are left out.
EnsembleDrift ensemble_drift(const Tensor& draws);

}  // namespace penumbra::diagnostics
