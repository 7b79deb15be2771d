/// What a run leaves in its folder (docs/run-folder.md), and the words that go with it.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

#include "app/step_limits.h"
#include "app/wiring.h"
#include "run/chain_run.h"

namespace penumbra::app {

/// samples, mean, sd, quantiles, trace; then summary.json, then report.html.
void write_results(const std::filesystem::path& folder, const Problem& problem, const ChainRun& run);

/// trace and summary of a run that diverged.
void write_divergence(const std::filesystem::path& folder, const Problem& problem, const ChainRun& run,
                      const StepLimits& limits);

/// The terminal's summary: one line a verdict. Returns the exit code that the run ended with.
int print_summary(const std::filesystem::path& folder);

}  // namespace penumbra::app
