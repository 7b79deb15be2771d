/// The twenty posteriors in the plane (validation-2d), weighed.
#pragma once

#include "app/experiments/weights/case.h"

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

TextTable weights_table(const std::vector<PlanePair>& pairs);
/// KL of the mode weights and the largest miss, by method.
TextTable plane_summary(const std::vector<PlanePair>& pairs);

/// |weight - exact weight|, the largest.
double largest_miss(const std::vector<PlanePair>& pairs, Case PlanePair::*which);

}  // namespace penumbra::app::weights
