/// The report of a training run: whether the network learnt, at which noise levels, and what it draws.
#pragma once

#include <filesystem>

namespace penumbra::report {

/// Reads the folder and nothing else; writes `folder`/report.html. Needs history.csv; shows what else is there
/// (validation.csv, summary.json, config.yaml, samples/). Throws InputError naming a missing or broken file.
void write_training_report(const std::filesystem::path& folder);

}  // namespace penumbra::report
