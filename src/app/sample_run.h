/// Runs a problem in a folder: from an empty folder or a checkpoint to results and report.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/wiring.h"
#include "team/team.h"

namespace penumbra::app {

enum class Resume { no, yes };
/// What stdout hears when the run has ended.
enum class Say { summary, nothing };

struct RunPlace {
  std::filesystem::path folder;
  Resume resume = Resume::no;
  Say say = Say::summary;
  std::vector<std::string> prepared = {};  ///< what the caller laid in the folder for the run
};

/// Returns the program's exit code, the same in all processes. Nothing is written before the folder is known to be
/// ours, nothing computed before it is known to be writable. Rank 0 alone writes.
int sample_run(const Problem& problem, const RunPlace& place, const Team& team = Team::alone());

}  // namespace penumbra::app
