/// Samples of one mode of the two-mode problem, and how much evidence closure phases take from it or leave it.
///
/// Closures of few stations leave a posterior that is no Gaussian and stiff in some directions by 1e4. The chains are
/// Metropolis-adjusted Langevin chains in the metric (I + Cov(grad g))^-1, which they learn from one another while the
/// data are let in by and by: first those that the half turn leaves as they are, then the closure phases, to powers
/// that grow from 0 to 1. In the second part chains are weighted and resampled (sequential Monte Carlo, Del Moral et
/// al. 2006), and the mean weights multiply to the evidence Z(with phases) / Z(without), unbiased however few the
/// steps.
#pragma once

#include "app/experiments/interferometry/coordinates.h"

namespace penumbra::app::interferometry {

struct InModeOptions {
  int64_t chains = 100;
  int64_t temperatures = 20;  ///< powers of the even part of the likelihood
  int64_t warm_up = 30;       ///< steps at each of them
  int64_t steps = 400;        ///< steps at 1
  int64_t moves = 40;         ///< steps at every power of the phases
  uint64_t seed = 1;
};

struct InMode {
  Tensor u;                 ///< [chains, 1, 1, dimension], of the whole posterior
  double log_evidence = 0;  ///< log(Z with phases / Z without)
  int64_t levels = 0;       ///< powers of the phases
  double accepted = 0;      ///< share of the last moves
  int64_t evaluations = 0;  ///< of the score
};

/// Both modes: without phases the second is the first, turned, so that one set of chains serves for both.
std::pair<InMode, InMode> sample_modes(const TwoModeCoordinates& coordinates, const InModeOptions& options);

/// log(Z1 / Z2) of the modes, from `groups` independent runs.
struct LadderOdds {
  double log_odds = 0, error = 0;  ///< mean and its standard error
  std::vector<double> each;        ///< of each run
  int64_t evaluations = 0;
  std::pair<InMode, InMode> last;  ///< samples of the last run

  double weight() const;        ///< of the mode of m
  double weight_error() const;  ///< to first order
};
LadderOdds ladder_odds(const TwoModeCoordinates& coordinates, int64_t groups, const InModeOptions& options);

}  // namespace penumbra::app::interferometry
