/// A posterior with two modes: a source and the same turned by 180 degrees, between which closure amplitudes cannot
/// tell.
#pragma once

#include <memory>

#include "core/tensor.h"
#include "priors/gaussian_mixture.h"

namespace penumbra::app::interferometry {

/// p = 1/2 N(m, C) + 1/2 N(R m, C), R the half turn, C = D K D, D = 0.45 (s + 0.02 max s), s = (m + R m) / 2,
/// K = exp(-d^2 / (2 (7 uas)^2)); eigenvalues of K below 1e-3 of the largest are dropped. [n] and [n, rank], float64.
struct TwoModePrior {
  Tensor mean, turned;
  Tensor factor;  ///< C = F F^T

  /// p(x) as a score; `floor` is the variance outside of F.
  std::shared_ptr<const GaussianMixture> mixture(const Shape& image_shape, double floor,
                                                 const Placement& placement) const;
  /// <x, m - R m> / <m, m - R m>: 1 at m, -1 at R m; [chains].
  Tensor projection(const Tensor& x) const;
};

/// m: [side, side]; `pixel` in uas.
TwoModePrior two_mode_prior(const Tensor& m, double pixel);

/// A crescent, its brightest part at the upper right, of `flux` in all: [side, side] over 160 uas.
Tensor crescent(int64_t side, double flux);

/// A crescent, bright in the North-West, in a halo with a hole: its closures leave a second image, bright on the other
/// side, that explains them as well, which those of a clean crescent do not. The numbers are the specification's. Flux
/// 1, [side, side] over 160 uas.
Tensor crescent_in_halo(int64_t side);

}  // namespace penumbra::app::interferometry
