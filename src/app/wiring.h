/// From a configuration to the objects it names: the only place that knows every kind of thing.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/defaults.h"
#include "app/modes_plan.h"
#include "app/options.h"
#include "app/prior_sd_plan.h"
#include "core/settings.h"
#include "run/plan.h"
#include "run/start.h"
#include "samplers/sampler.h"

namespace penumbra::app {

/// What a configuration describes, checked and ready to run.
struct Problem {
  std::string prior_kind, likelihood_kind, sampler_kind;
  Placement placement;
  uint64_t seed = 0;
  Posterior posterior;
  const SamplerEntry* entry = nullptr;
  std::shared_ptr<const Sampler> sampler;
  std::vector<Derived> derived;  ///< what the configuration left open, as it was decided
  Start start;
  RunPlan plan;
  std::filesystem::path observation;         ///< an image-shaped picture of the data for the report; may be empty
  std::optional<ModesPlan> modes;            ///< what is asked of the samples
  PriorSdPlan prior_sd;                      ///< with what the samples' spread is compared
  std::string resolved;                      ///< config.yaml: every key, defaults included
  std::vector<std::filesystem::path> files;  ///< every file that the configuration names

  /// x_0 of the chains of `part`, the plan or a share of it.
  ChainState initial_state(const RunPlan& part) const;
};

struct ConfigOptions {
  std::filesystem::path path;
  std::vector<std::string> assignments;  ///< --set
  std::optional<uint64_t> seed;          ///< --seed
  MachineOptions machine;
};

/// What --help says of the configuration.
struct ConfigHelp {
  std::string page = "docs/configuration.md";
  std::string example = "sampler.steps=500";  ///< of --set
};

/// CONFIG.yaml, --set, --seed, --device, --threads.
void add_config_options(CLI::App& command, ConfigOptions& options, const ConfigHelp& help = {});

/// A configuration carried out in a folder.
struct RunOptions {
  ConfigOptions config;
  std::filesystem::path out;
  bool resume = false;
};

/// Those of the configuration, --out and --resume; processes that were launched together share the run.
void add_run_options(CLI::App& command, RunOptions& options, const ConfigHelp& help = {});

/// The file with --set and --seed applied, and its `seed`.
Settings load_settings(const ConfigOptions& options);
uint64_t seed_setting(Settings& settings);

Problem load_problem(const ConfigOptions& options);

/// Makes the likelihood of a problem whose prior, seed and placement are known.
using MakeLikelihood = std::function<std::shared_ptr<const Likelihood>(Settings& likelihood, const Problem& problem)>;

/// The same for a command that has data and sections of its own: those are read before `end_problem` refuses every key
/// that nobody asked for.
Problem begin_problem(Settings& settings, const MachineOptions& machine, const MakeLikelihood& make);
void end_problem(Problem& problem, Settings& settings);

/// The prior and likelihood alone, for commands that do not sample.
struct Measurement {
  Placement placement;
  uint64_t seed = 0;
  std::shared_ptr<const Score> prior;
  std::shared_ptr<const Likelihood> likelihood;
  std::vector<std::filesystem::path> files;  ///< that the configuration names
};
Measurement load_measurement(const ConfigOptions& options);

}  // namespace penumbra::app
