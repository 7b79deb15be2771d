/// penumbra train: from a folder of images to a prior, its record and its report.
#pragma once

#include "app/wiring.h"

namespace penumbra::app {

/// Trains into `folder`, or continues what is there; the exit code.
int train_run(const ConfigOptions& options, const std::filesystem::path& folder, bool resume);

}  // namespace penumbra::app
