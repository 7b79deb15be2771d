/// Maximum-likelihood fit of a Gaussian mixture to points by expectation maximisation.
#pragma once

#include "theory/mixture.h"

namespace penumbra::theory {

struct FitOptions {
  int64_t components = 2;
  double tolerance = 1e-10;  ///< stop when the mean log-likelihood rises by less than this
  int64_t max_iterations = 1000;
  double ridge = 1e-12;        ///< added to each variance, in units of the points' mean variance
  double weight_floor = 1e-6;  ///< no component dies for good
  /// A component with fewer points than this, 2 (n + 1) if 0, borrows what it lacks from the covariance pooled over
  /// the components; one with more is fitted without bias. Without this a component on one point has infinite
  /// likelihood.
  double few_points = 0;
  uint64_t seed = 1;  ///< of the starting points
};

struct Fit {
  Mixture mixture;  ///< components in the order of the first coordinate of their means
  double mean_log_likelihood = 0;
  int64_t iterations = 0;
  bool converged = false;
};

/// points: [N, n], N >= components.
Fit fit_mixture(const Tensor& points, const FitOptions& options = {});

}  // namespace penumbra::theory
