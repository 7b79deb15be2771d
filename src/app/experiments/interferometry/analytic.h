/// The bimodal problem with a prior that has a formula: tests T1 and T2 of the specification on data of our own.
#pragma once

#include "app/experiments/interferometry/in_mode.h"
#include "app/experiments/interferometry/sky_case.h"
#include "app/experiments/interferometry/two_modes.h"
#include "theory/mode_odds.h"

namespace penumbra::app::interferometry {

struct AnalyticProblem {
  SkySetup setup;
  SkyCase sky;         ///< of a crescent in a halo
  TwoModePrior prior;  ///< around the crescent blurred by 20 uas and around the same turned; 1 where it is brightest
};
AnalyticProblem analytic_problem(int64_t side, uint64_t seed);

/// ALMA, SMT, LMT, SMA and PV alone (T1b).
AnalyticProblem five_station_problem(int64_t side, uint64_t seed);

/// T1: closure amplitudes alone cannot tell the two, and neither can the prior: both have weight 1/2 exactly.
struct Annealed {
  Tensor p, chi2;  ///< of each chain: the projection, 1 at m and -1 at R m, and chi^2 of the closure amplitudes
  Tensor x = {};   ///< the last iterates, smoothed by sigma; float64
  double sigma = 0;
};
struct AnnealingOptions {
  int64_t chains = 100, steps = 300;
  uint64_t seed = 1;
  Placement placement = {at::kFloat, at::kCPU};
};
Annealed anneal_amplitudes(const AnalyticProblem& problem, const AnnealingOptions& options);

/// The odds of the two orientations (the first is that of m) with closure amplitudes alone, from the chains and the
/// posterior's score; of each at most `samples`. Both must have two chains or more.
theory::ModeOdds amplitude_odds(const AnalyticProblem& problem, const Annealed& annealed, int64_t samples);

/// T1b's problem where each mode of the prior is a normal law, closure phases with 30 times their SDs.
TwoModeCoordinates widened_coordinates(const AnalyticProblem& problem);

/// The odds of the modes from a ladder's last samples, moved by the half turn.
theory::ModeOdds turned_odds(const TwoModeCoordinates& coordinates, const LadderOdds& ladder, int64_t samples);

/// T2: with closure phases, the optimum of 1/2 |xi|^2 + g(mean + F xi), xi from zero.
struct Optimum {
  double energy = 0;
  double above = 0;  ///< |gradient|^2 / 2, which bounds how far it is above the optimum where g is convex
  double chi2_phase = 0, chi2_amplitude = 0, p = 0;
};
enum class From { mean, turned };
Optimum optimum(const AnalyticProblem& problem, From from, int iterations);

}  // namespace penumbra::app::interferometry
