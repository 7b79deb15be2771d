/// The report of a run: everything a colleague needs to judge it, in one HTML file.
#pragma once

#include <filesystem>

namespace penumbra::report {

/// Reads the run folder and nothing else; writes `run`/report.html. Throws InputError naming a missing or broken file.
void write_run_report(const std::filesystem::path& run);

}  // namespace penumbra::report
