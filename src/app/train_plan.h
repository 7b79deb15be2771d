/// A training configuration, checked: what is trained, on what, how long, and what is written down on the way.
#pragma once

#include "app/blackhole_data.h"
#include "app/train_task.h"
#include "app/wiring.h"
#include "networks/header.h"
#include "training/trainer.h"

namespace penumbra::app {

struct TrainPlan {
  at::Device device = at::kCPU;
  training::ImageSetOptions data;
  std::optional<BlackHoleData> blackholes;  ///< none: the images are read from a folder
  training::TrainerOptions trainer;
  std::optional<ReconstructionPlan> reconstruction;  ///< none: denoising
  NetworkHeader header;                              ///< sigma_data 0: to be taken from the images
  at::ScalarType storage = at::kHalf;
  int64_t log_every = 50;
  int64_t validate_every = 1000;
  int64_t validation_images = 64;
  int64_t bands = 8;
  int64_t sample_every = 5000;  ///< 0: no pictures
  int64_t samples = 16;
  double checkpoint_every_s = 300;
  std::string resolved;  ///< config.yaml

  /// Where the images are from, for people.
  std::string source() const { return blackholes ? blackholes->describe() : data.folder.string(); }
};

TrainPlan load_train_plan(const ConfigOptions& options);

}  // namespace penumbra::app
