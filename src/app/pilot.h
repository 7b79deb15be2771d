/// A short run of a few chains that finds what the theorems' constants are where the chains go.
#pragma once

#include <optional>
#include <vector>

#include "app/wiring.h"

namespace penumbra::app {

struct PilotOptions {
  int64_t chains = 32;
  int64_t steps = 2000;  ///< at most; the configured number if that is less
  int64_t levels = 12;   ///< noise levels of the schedule at which L_sigma is measured
  int64_t points = 8;    ///< chains at which it is measured
};

/// L_sigma at one noise level, by power iteration at chains, at draws of the prior and between its modes.
struct Level {
  int64_t k = 0;
  double sigma = 0;
  double L_sigma = 0;
  bool converged = true;
};

struct Pilot {
  int64_t steps = 0;                  ///< done
  bool diverged = false;              ///< left the finite numbers or the configured limit
  std::optional<double> C, R_g, R_s;  ///< largest L2 norm over the chains, over the iterations
  Tensor points;                      ///< some of the last finite iterates, [points, image]
  std::vector<Level> levels;          ///< in the order of k; the last is the settled schedule's
};

Pilot run_pilot(const Problem& problem, const PilotOptions& options);

/// Lipschitz constant of the score at sigma at the pilot's points and the prior's own; the largest found.
Level measure_level(const Problem& problem, const Tensor& chain_points, double sigma, const PilotOptions& options);

}  // namespace penumbra::app
