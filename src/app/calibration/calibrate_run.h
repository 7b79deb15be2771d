/// penumbra calibrate, from a configuration to verdict and report; what is finished is kept.
#pragma once

#include "app/calibration/simulation.h"
#include "app/wiring.h"

namespace penumbra::app::calibration {

/// The configuration's section `calibrate`.
struct Plan {
  int64_t simulations = 100;
  int64_t batch = 1;  ///< simulations run together
  int64_t draws_per_chain = 1;
  int64_t truth_steps = 32;  ///< of the probability-flow equation, where the prior cannot be drawn from exactly
  StatisticsPlan statistics;
};

struct Calibrated {
  Problem problem;  ///< whose likelihood has the data of the first simulation: what is derived is derived from those
  Subject subject;
  Plan plan;
};

/// A configuration for `penumbra sample`, with or without `likelihood.data`.
Calibrated load_calibration(const ConfigOptions& options);

struct RunOptions {
  std::filesystem::path out;
  bool require_calibrated = false;
  bool json = false;
};

/// Returns the program's exit code. The same call goes on where one was interrupted.
int calibrate_run(const Calibrated& calibrated, const RunOptions& options);

}  // namespace penumbra::app::calibration
