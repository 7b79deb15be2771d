/// Richardson's extrapolation to step size 0. A Langevin chain's mean and variance are off by c gamma + O(gamma^2), so
/// twice the value at gamma / 2 less that at gamma is off by O(gamma^2): of RED in a Gaussian mode with x = gamma
/// lambda / 2 the variance is off by -x^2 / 2 + O(x^3) instead of x. Its Monte Carlo error is up to sqrt(5) times as
/// large.
#pragma once

#include "core/tensor.h"

namespace penumbra::theory {

struct Moments {
  Tensor mean, sd;
};

struct Extrapolated {
  Moments moments;
  Tensor unusable;  ///< where the variance came out negative, and the SD is that of gamma / 2
};

/// All of one shape, float64.
Extrapolated extrapolate(const Moments& at_gamma, const Moments& at_half);

}  // namespace penumbra::theory
