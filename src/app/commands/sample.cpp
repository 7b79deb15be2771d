/// penumbra sample CONFIG.yaml --out RUN: samples a posterior.
#include <CLI/CLI.hpp>

#include "app/command.h"
#include "app/sample_run.h"

namespace penumbra::app {
namespace {

std::function<int()> declare(CLI::App& command) {
  auto options = std::make_shared<RunOptions>();
  add_run_options(command, *options);
  return [options] {
    const auto problem = load_problem(options->config);
    const auto team = Team::from_environment(problem.placement.device);
    return sample_run(problem, {.folder = options->out, .resume = options->resume ? Resume::yes : Resume::no}, team);
  };
}

}  // namespace

extern const CommandEntry sample{"sample", "sample a posterior", declare};

}  // namespace penumbra::app
