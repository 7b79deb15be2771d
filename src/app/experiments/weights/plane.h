/// The twenty posteriors in the plane (validation-2d), weighed.
#pragma once

#include "app/experiments/weights/alternatives.h"

namespace penumbra::app::weights {

/// Of each posterior: after sampling with the exact score and with one whose error is eps_max = 2.5. The odds take the
/// exact score both times.
struct PlanePair {
  Case exact, noisy;
};

struct PlaneEffort {
  int64_t posteriors = 20, chains = 200, steps = 1000;
};

std::vector<PlanePair> weigh_plane(const PlaneEffort& effort, uint64_t seed);

/// Counts, counts of noisy sampling, odds, odds after noisy sampling, and the alternatives: all by weights and cost.
std::vector<MethodSummary> compare_plane(const std::vector<PlanePair>& pairs, const PlaneEffort& effort,
                                         const std::vector<Alternative>& alternatives, uint64_t seed);

TextTable weights_table(const std::vector<PlanePair>& pairs);
/// |weight - exact weight|, the largest.
double largest_miss(const std::vector<PlanePair>& pairs, Case PlanePair::*which);

}  // namespace penumbra::app::weights
