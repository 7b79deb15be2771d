/// penumbra train CONFIG.yaml --out DIR: trains a score network on a folder of images.
#include "app/command.h"
#include "app/train_run.h"

namespace penumbra::app {
namespace {

std::function<int()> declare(CLI::App& command) {
  auto options = std::make_shared<RunOptions>();
  add_run_options(command, *options, {"docs/training.md", "training.steps=500"});
  return [options] { return train_run(options->config, options->out, options->resume); };
}

}  // namespace

extern const CommandEntry train{"train", "train a prior on a folder of images", declare};

}  // namespace penumbra::app
