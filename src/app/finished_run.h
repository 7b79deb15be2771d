/// How far the run in a folder has come: asked before anything is done with its results.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

namespace penumbra::app {

/// Throws InputError, which says how far it came, unless the folder holds a run that has ended, in whichever way.
void require_ended(const std::filesystem::path& run);

/// The same unless it has ended with images: one that diverged has none.
void require_finished(const std::filesystem::path& run);

/// summary.json; throws InputError where it is no JSON object.
nlohmann::json summary_of_run(const std::filesystem::path& run);

/// Whether summary.json says so.
bool has_diverged(const std::filesystem::path& run);

}  // namespace penumbra::app
