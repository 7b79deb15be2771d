/// What the samples of a mode should look like: the exact posterior, and the stationary law that the step size implies.
#pragma once

#include <array>
#include <map>

#include "app/experiments/statistical/setting.h"
#include "theory/gaussian_law.h"

namespace penumbra::app::statistical {

/// Both modes have one covariance, since the prior's have.
struct ModeLaws {
  std::array<Tensor, 2> means;  ///< [n] each
  Tensor covariance;            ///< [n, n]

  Tensor sd() const { return covariance.diagonal().sqrt(); }
  double trace() const { return covariance.trace().item<double>(); }
};

struct Laws {
  ModeLaws exact;
  std::map<Discretization, ModeLaws> stationary;
  std::map<Discretization, double> spectral_radius;  ///< the start's share left after k final steps is its k-th power
};

/// With annealing or without: sigma ends at sigma_min and alpha at 1, so the stationary law is the same.
Laws make_laws(const Setting& setting);

}  // namespace penumbra::app::statistical
