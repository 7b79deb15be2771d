/// KL(nu || pi) and the relative Fisher information FI(nu || pi) = E_nu |grad log nu - grad log pi|^2 (eq. (FI)).
#pragma once

#include "core/tensor.h"
#include "theory/gaussian_law.h"
#include "theory/mixture.h"

namespace penumbra::theory {

struct Divergence {
  double fisher_information = 0;
  double kl = 0;
};

/// Closed form between Gaussians: with L = pi's precision, d = difference of the means, C = nu's covariance,
/// FI = tr(L^2 C) - 2 tr L + tr C^-1 + |L d|^2, KL = [tr(L C) - n + d^T L d - log det(L C)] / 2.
Divergence gaussian_divergence(const GaussianLaw& nu, const Tensor& pi_mean, const Tensor& pi_precision);
Divergence gaussian_divergence(const GaussianLaw& nu, const GaussianLaw& pi);

/// A rectangle of the plane in square or oblong cells; the default is the paper's, Section V.A.
struct Grid {
  double x_low = -50, x_high = 50, y_low = -50, y_high = 50;
  int64_t columns = 1000, rows = 1000;
  /// Cells where (x - mu_j)^T S_j^-1 (x - mu_j) exceeds this for every component of nu are left out: at 80 nu has
  /// fallen by exp(-40), which changes neither integral at 1e-15.
  double cutoff = 80;
};

struct GridDivergence : Divergence {
  /// The integral of nu over the grid: far from 1 if nu leaves the rectangle or is narrower than a cell, and then the
  /// other two numbers mean nothing.
  double mass = 0;
};

/// Midpoint rule with analytic gradients between two mixtures in the plane.
GridDivergence grid_divergence(const Mixture& nu, const Mixture& pi, const Grid& grid = {});

}  // namespace penumbra::theory
