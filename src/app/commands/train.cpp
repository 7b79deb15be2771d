/// penumbra train CONFIG.yaml --out DIR: trains a score network on a folder of images.
#include "app/command.h"
#include "app/train_run.h"

namespace penumbra::app {
namespace {

struct Options {
  ConfigOptions config;
  std::filesystem::path out;
  bool resume = false;
};

std::function<int()> declare(CLI::App& command) {
  auto options = std::make_shared<Options>();
  add_config_options(command, options->config);
  command.add_option("--out", options->out, "folder of the training run")->required();
  command.add_flag("--resume", options->resume, "continue a run that was interrupted");
  return [options] { return train_run(options->config, options->out, options->resume); };
}

}  // namespace

extern const CommandEntry train{"train", "train a prior on a folder of images", declare};

}  // namespace penumbra::app
