/// Kernel Stein discrepancy: do the samples come from the density with this score? No normalising constant, no
/// reference samples; the inverse multiquadric kernel k(x, y) = (c^2 + |x - y|^2)^(-1/2) controls convergence
/// (Gorham and Mackey 2017), the wild bootstrap says how large is large (Chwialkowski et al. 2016).
///
/// A wrong mean is seen easily; a standard deviation wrong by the factor f only with about 17 f^4 sqrt(n) / (f^2 - 1)^2
/// samples or more, because in high dimension all pairs are equally far apart.
#pragma once

#include "core/tensor.h"

namespace penumbra::theory {

struct SteinOptions {
  double length = 0;         ///< c; 0: the median of the distances between the samples
  int64_t bootstrap = 1000;  ///< resamples
  double level = 0.05;       ///< probability of rejecting the right density
  uint64_t seed = 0;
};

struct Stein {
  double u_statistic = 0;  ///< unbiased estimate of KSD^2, may be negative
  double v_statistic = 0;  ///< KSD^2 of the samples' empirical law, never negative
  double length = 0;       ///< the c that was used
  double threshold = 0;    ///< of the U-statistic, at the level asked for
  double p_value = 1;
  bool rejected() const { return u_statistic > threshold; }
};

/// samples and their scores grad log pi, [N, n]. Time and memory grow as N^2; the test assumes independent samples
/// (one a chain), N >= 2.
Stein kernel_stein(const Tensor& samples, const Tensor& scores, const SteinOptions& options = {});

}  // namespace penumbra::theory
