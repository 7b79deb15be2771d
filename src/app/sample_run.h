/// Runs a problem in a folder: from an empty folder or a checkpoint to results and report.
#pragma once

#include <filesystem>

#include "app/wiring.h"
#include "team/team.h"

namespace penumbra::app {

enum class Resume { no, yes };

/// Returns the program's exit code, the same in all processes. Nothing is computed before the folder is known to be
/// writable and ours. Rank 0 alone writes.
int sample_run(const Problem& problem, const std::filesystem::path& folder, Resume resume,
               const Team& team = Team::alone());

}  // namespace penumbra::app
