/// What every experiment checks, says and records of itself.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/experiment.h"
#include "report/page.h"

namespace penumbra::app {

/// A claim of the experiment and whether this run bears it out.
struct Check {
  std::string claim;
  bool passed = false;
  std::string detail;  ///< the numbers
};

/// The name of the processor or of the graphics card.
std::string device_in_words(const at::Device& device);

/// Before anything is computed: throws InputError unless options.out can take so many bytes and is new, empty, or the
/// folder of the same experiment. Until run.json is there, experiment.begun says which it is.
void claim_folder(const std::string& experiment, const ExperimentOptions& options, uint64_t bytes);

/// What an earlier run of the experiment left in this file, if it was made of the same.
std::optional<nlohmann::json> kept_record(const std::filesystem::path& path, const std::string& fingerprint);

bool all_passed(const std::vector<Check>& checks);

/// One line a failure, then the count.
void print_checks(const std::vector<Check>& checks);

/// The checks as a report lists them.
std::vector<std::pair<report::Badge, std::string>> findings(const std::vector<Check>& checks);

/// run.json, in the place of experiment.begun: program, machine, seed, seconds, the experiment's own settings and its
/// checks.
void write_record(const std::string& experiment, const ExperimentOptions& options, const nlohmann::json& settings,
                  const std::vector<Check>& checks, double seconds);

}  // namespace penumbra::app
