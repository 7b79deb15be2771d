/// penumbra experiment NAME: reruns a table or figure of the paper.
#include <CLI/CLI.hpp>

#include "app/command.h"
#include "app/experiment.h"
#include "app/options.h"
#include "core/error.h"
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
  auto& experiment = options->experiment;
  command.add_option("--images", experiment.images, "statistical, blackhole: folder of images");
  command.add_option("--faces", experiment.faces, "folder of test images for compressed sensing (default: draws)");
  command.add_option("--brains", experiment.brains, "folder of test images for MRI (default: draws)");
  command.add_option("--denoiser", experiment.denoiser,
                     "weights of DnCNN at 25/255 for PnP and RED (default: the prior)");
  command.add_option("--prior", experiment.prior, "blackhole, bimodal: a shipped prior (default: blackhole-64)");
  command.add_option("--count", experiment.count, "number of test images")->check(CLI::Range(1, 100000));
  command.add_option("--chains", experiment.chains, "chains for each image")->check(CLI::Range(1, 100000));
  command.add_option("--steps", experiment.steps, "iterations of every sampler")->check(CLI::Range(1, 100000000));
  command.add_option("--methods", experiment.methods,
                     "cs, mri, pnp-ula, convergence, varnet, blackhole: compare these instead: a YAML file of NAME: "
                     "{kind: ..., its keys}");
  command.add_option("--task", experiment.tasks,
                     "cs, mri, pnp-ula, convergence, varnet: cs-0.1, cs-0.3, mri-8x or mri-4x only");
  add_seed_option(command, options->seed);
  add_machine_options(command, options->machine);
  return [options] {
    auto& experiment = options->experiment;
    experiment.device = use_machine(options->machine);
    if (options->seed) experiment.seed = *options->seed;
    if (experiment.out.empty()) experiment.out = std::filesystem::path("experiments") / options->name;
    const auto* entry = find_named(experiment_entries(), options->name);
    if (!experiment.prior.empty() && !entry->takes_prior)
      input_error("--prior: expected with blackhole or bimodal, found with {}, whose priors are fixed", entry->name);
    return entry->run(experiment);
  };
}

}  // namespace

extern const CommandEntry experiment{"experiment", "rerun a table or figure of the paper", declare};

}  // namespace penumbra::app
