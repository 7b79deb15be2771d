/// Runs a problem in a folder: from an empty folder or a checkpoint to results and report.
#pragma once

#include <filesystem>

#include "app/wiring.h"

namespace penumbra::app {

enum class Resume { no, yes };

/// Returns the program's exit code. Nothing is computed before the folder is known to be writable and ours.
int sample_run(const Problem& problem, const std::filesystem::path& folder, Resume resume);

}  // namespace penumbra::app
