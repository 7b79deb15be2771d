/// penumbra experiment NAME: reruns a table or figure of the paper.
#include "app/experiment.h"
#include "app/command.h"
#include "app/options.h"
#include "core/named.h"

namespace penumbra::app {
namespace {

struct Options {
  std::string name;
  ExperimentOptions experiment;
  std::optional<uint64_t> seed;
  MachineOptions machine;
};

std::function<int()> declare(CLI::App& command) {
  auto options = std::make_shared<Options>();
  std::string names;
  for (const auto* entry : experiment_entries()) names += "\n  " + entry->name + ": " + entry->summary;
  command.add_option("NAME", options->name, "one of:" + names)
      ->required()
      ->check(CLI::IsMember(names_of(experiment_entries())));
  command.add_flag("--quick", options->experiment.quick, "a smaller version, for a first look");
  command.add_option("--out", options->experiment.out, "folder of the results (default: experiments/NAME)");
  command.add_option("--images", options->experiment.images, "folder of images, where the experiment can use one");
  add_seed_option(command, options->seed);
  add_threads_option(command, options->machine);
  return [options] {
    use_machine(options->machine);
    auto& experiment = options->experiment;
    if (options->seed) experiment.seed = *options->seed;
    if (experiment.out.empty()) experiment.out = std::filesystem::path("experiments") / options->name;
    return find_named(experiment_entries(), options->name)->run(experiment);
  };
}

}  // namespace

extern const CommandEntry experiment{"experiment", "rerun a table or figure of the paper", declare};

}  // namespace penumbra::app
