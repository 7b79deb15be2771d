/// --prior: a prior on the command line, in whichever form a user has it.
#pragma once

#include <memory>
#include <optional>

#include "app/command_line.h"
#include "priors/score.h"

namespace penumbra::app {

struct PriorOptions {
  std::string prior;                ///< a YAML file, a file of weights, or the name of a prior that ships with Penumbra
  std::filesystem::path arch = {};  ///< JSON or YAML of the architecture, where the weights do not say
  std::optional<std::string> compute = {};  ///< where given, against what a configuration says
  std::string usual_compute = "auto";       ///< where neither says
};

/// --prior, --arch and --compute, the last with `usual_compute` as its default.
void add_prior_options(CLI::App& command, PriorOptions& options, const std::string& usual_compute = "auto",
                       bool required = true);

std::shared_ptr<const Score> load_prior(const PriorOptions& options, const Placement& placement);

/// `prior.kind` of what the option names.
std::string prior_kind(const PriorOptions& options);

}  // namespace penumbra::app
