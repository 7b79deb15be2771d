/// Simulations of a calibration: truths of the prior, their data, and where each truth stands among its posterior's
/// draws.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "app/calibration/statistics.h"
#include "diagnostics/calibration.h"
#include "run/chain_run.h"
#include "run/start.h"

namespace penumbra::app::calibration {

/// What is calibrated: prior and likelihood say what is true, the sampler is on trial.
struct Subject {
  std::shared_ptr<const Score> prior;
  std::shared_ptr<const Likelihood> likelihood;  ///< whose simulations are the data; it needs none of its own
  std::function<std::shared_ptr<const Sampler>(const Posterior& posterior)> sampler;
  Start start;
  RunPlan plan;  ///< of one simulation
  Placement placement;
  uint64_t seed = 0;
  int64_t draws_per_chain = 1;

  int64_t draws() const { return plan.chains * draws_per_chain; }
};

/// Truths must not share random numbers with the chains, which draw theirs from the run's seed.
uint64_t truth_seed(uint64_t seed);

/// Draws of the prior, [count, image]: exact ones, or where there are none by the probability-flow equation in so many
/// steps. Empty where those diverged.
std::optional<Tensor> draw_truths(const Subject& subject, int64_t count, int64_t steps);

struct Simulation {
  int64_t number = 0;
  diagnostics::Standing standing;
  double tarp = 0;
};

struct Batch {
  Outcome outcome = Outcome::finished;
  std::vector<Simulation> simulations;  ///< where it is finished
  double seconds = 0;
};

/// Runs the simulations first .. first + count - 1 as one batch of chains. A simulation depends on (seed, its number)
/// alone, to rounding. `after_step` gets the number of steps done.
Batch simulate(
    const Subject& subject, const Statistics& statistics, const Tensor& truths, int64_t first, int64_t count,
    const std::function<void(int64_t)>& after_step = [](int64_t) {});

diagnostics::Standings collect(const std::vector<Simulation>& simulations, int64_t draws);

}  // namespace penumbra::app::calibration
