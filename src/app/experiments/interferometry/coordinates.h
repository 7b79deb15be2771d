/// The two-mode problem in coordinates in which each mode of the prior is a standard normal law.
///
/// x = (m + R m)/2 + F xi + s tau (m - R m)/2 with u = (xi, tau); the prior is N(0, I) for xi and, for tau, half
/// N(1/s, 1) and half N(-1/s, 1). At s = 0 it is the mixture of TwoModePrior itself, on two planes that never meet; a
/// small s joins them, so that there is a density everywhere and a score between the modes. Directions of xi that the
/// data do not see are left out: their law is the prior's.
#pragma once

#include "app/experiments/interferometry/two_modes.h"
#include "likelihoods/interferometry.h"
#include "samplers/posterior.h"

namespace penumbra::app::interferometry {

/// Closures and flux of images on a grid.
struct SkyData {
  vlbi::Observation observation;
  vlbi::Closures closures;
  InterferometryOptions options;  ///< closure phases, closure amplitudes and the flux; diagonal errors
};

struct TwoModeCoordinates {
  TwoModePrior prior;
  Tensor middle, columns;  ///< x = middle + columns u; [n], [n, dimension]
  Tensor signs;            ///< the half turn R is u -> signs u
  Posterior posterior;     ///< of u, shaped [1, 1, dimension]; float64
  /// Its likelihood in two parts: what the half turn leaves as it is (closure amplitudes, flux), and the closure
  /// phases, nothing where there are none.
  std::shared_ptr<const Likelihood> even, phases;
  double separation = 0;  ///< 1/s

  int64_t dimension() const { return columns.size(1); }
  /// tau / separation of each row of u: near 1 in the mode of m, near -1 in that of R m.
  Tensor side_of(const Tensor& u) const;
};

/// `image_side`: pixels of the square image that the prior is of.
TwoModeCoordinates two_mode_coordinates(const TwoModePrior& prior, const SkyData& data, int64_t image_side);

}  // namespace penumbra::app::interferometry
