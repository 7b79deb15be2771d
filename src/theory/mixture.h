/// A Gaussian mixture as plain numbers: what is fitted to samples and compared with a posterior.
#pragma once

#include "core/tensor.h"

namespace penumbra::theory {

/// sum_j w_j N(mu_j, S_j); float64 on the CPU.
struct Mixture {
  Tensor weights;      ///< [J], summing to 1
  Tensor means;        ///< [J, n]
  Tensor covariances;  ///< [J, n, n]
};

}  // namespace penumbra::theory
