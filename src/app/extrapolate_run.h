/// A finished run repeated with half of its step size, and both extrapolated to none.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "app/wiring.h"

namespace penumbra::app {

/// The configuration of the second run as assignments to that of the first: half the step, twice the steps and all that
/// counts in steps, the next seed. Throws InputError, with `name` for the file, for a sampler without a step-size bias
/// or whose step is no step in time.
std::vector<std::string> halving_assignments(Settings settings, const std::string& name);

/// Writes RUN/extrapolated/mean.npy and sd.npy from RUN and RUN/half-step, `extrapolation` and its verdict into
/// RUN/summary.json, and the report again; returns that section.
nlohmann::json write_extrapolation(const std::filesystem::path& run);

/// Where the second run lives.
std::filesystem::path half_step_folder(const std::filesystem::path& run);

}  // namespace penumbra::app
