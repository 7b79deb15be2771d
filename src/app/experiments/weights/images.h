/// Image posteriors of the statistical experiment with odds from -1 to 20 nats, and with modes of unequal shapes,
/// weighed.
#pragma once

#include "app/experiments/statistical/images.h"
#include "app/experiments/statistical/setting.h"
#include "app/experiments/weights/alternatives.h"

namespace penumbra::app::weights {

struct ImageEffort {
  statistical::Parameters parameters;
  std::vector<double> wanted{-1, 4, 10, 20};  ///< log-odds, at the smoothing of the chains
  std::vector<double> taus{0.05, 0.1, 0.2};   ///< eigenvalues of the second mode times exp(tau N(0, 1))
};

std::vector<Case> weigh_images(const ImageEffort& effort, const statistical::Images& images, uint64_t seed);

/// The alternatives on the posteriors of modes of equal shapes, beside the counts and odds of `cases`.
std::vector<MethodSummary> compare_images(const ImageEffort& effort, const statistical::Images& images,
                                          const std::vector<Case>& cases, const std::vector<Alternative>& alternatives,
                                          uint64_t seed);

}  // namespace penumbra::app::weights
