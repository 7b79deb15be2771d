/// What a run leaves in its folder (docs/run-folder.md), and the words that go with it.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

#include "app/wiring.h"
#include "run/chain_run.h"

namespace penumbra::app {

/// The largest step for which the chain is stable and those for which the theorems hold, with their ingredients.
struct StepLimits {
  std::optional<double> lipschitz_likelihood, lipschitz_prior;
  std::optional<double> stability, theorem;
};
StepLimits step_limits(const Problem& problem, const Tensor& points);

/// samples, mean, sd, quantiles, trace; then summary.json, then report.html.
void write_results(const std::filesystem::path& folder, const Problem& problem, const ChainRun& run);

/// trace and summary of a run that diverged.
void write_divergence(const std::filesystem::path& folder, const Problem& problem, const ChainRun& run,
                      const StepLimits& limits);

/// The terminal's summary: one line a verdict.
void print_summary(const std::filesystem::path& folder);

}  // namespace penumbra::app
