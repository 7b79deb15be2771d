/// The bimodal problem with a prior that has a formula: tests T1 and T2 of the specification on data of our own.
#pragma once

#include "app/experiments/interferometry/sky_case.h"
#include "app/experiments/interferometry/two_modes.h"

namespace penumbra::app::interferometry {

struct AnalyticProblem {
  SkySetup setup;
  SkyCase sky;         ///< of a crescent in a halo
  TwoModePrior prior;  ///< around the crescent blurred by 20 uas and around the same turned; 1 where it is brightest
};
AnalyticProblem analytic_problem(int64_t side, uint64_t seed);

/// T1: closure amplitudes alone cannot tell the two, and neither can the prior: both have weight 1/2 exactly.
struct Annealed {
  Tensor p, chi2;  ///< of each chain: the projection, 1 at m and -1 at R m, and chi^2 of the closure amplitudes
};
struct AnnealingOptions {
  int64_t chains = 100, steps = 300;
  uint64_t seed = 1;
  Placement placement = {at::kFloat, at::kCPU};
};
Annealed anneal_amplitudes(const AnalyticProblem& problem, const AnnealingOptions& options);

/// T2: with closure phases, the optimum of 1/2 |xi|^2 + g(mean + F xi), xi from zero.
struct Optimum {
  double energy = 0;
  double above = 0;  ///< |gradient|^2 / 2, which bounds how far it is above the optimum where g is convex
  double chi2_phase = 0, chi2_amplitude = 0, p = 0;
};
enum class From { mean, turned };
Optimum optimum(const AnalyticProblem& problem, From from, int iterations);

}  // namespace penumbra::app::interferometry
