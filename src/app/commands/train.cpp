/// penumbra train CONFIG.yaml --out DIR: trains a score network on a folder of images; --pixel-sd FILE writes their SD.
#include <CLI/CLI.hpp>

#include "app/command.h"
#include "app/train_run.h"
#include "app/training_images.h"
#include "core/error.h"

namespace penumbra::app {
namespace {

std::function<int()> declare(CLI::App& command) {
  auto options = std::make_shared<RunOptions>();
  auto pixel_sd = std::make_shared<std::filesystem::path>();
  add_run_options(command, *options, {"docs/training.md", "training.steps=500"});
  auto* out = command.get_option("--out")->required(false);
  command
      .add_option("--pixel-sd", *pixel_sd,
                  "train nothing: write the SD of the training images to this file, x.sd.json for the prior "
                  "x.safetensors")
      ->excludes(out)
      ->excludes(command.get_option("--resume"));
  return [options, pixel_sd] {
    if (!pixel_sd->empty()) return write_training_sd(options->config, *pixel_sd);
    if (options->out.empty()) input_error("--out: expected the folder of the run, found none");
    return train_run(options->config, options->out, options->resume);
  };
}

}  // namespace

extern const CommandEntry train{"train", "train a prior on a folder of images", declare};

}  // namespace penumbra::app
