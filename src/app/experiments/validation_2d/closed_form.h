/// What Table 2 should hold, without a simulation: inside a mode the chain is an AR(1) process whose Gaussian law is
/// known, and between well separated modes FI = sum_j q_j FI_j and KL = KL(q || w) + sum_j q_j KL_j.
#pragma once

#include "app/experiments/validation_2d/setting.h"

namespace penumbra::app::validation_2d {

/// Means over the posteriors.
struct Prediction {
  double fi = 0;
  double kl_modes = 0;    ///< sum_j q_j KL_j
  double kl_weights = 0;  ///< KL(q || w)

  double kl() const { return kl_modes + kl_weights; }
};

/// The stationary law at the schedule's end, with q = (1/2, 1/2): the annealed chains divide themselves evenly
/// whatever the data say. NaN where a step of that size has no stationary law.
Prediction predict(const Problem& problem, const Configuration& configuration);

}  // namespace penumbra::app::validation_2d
