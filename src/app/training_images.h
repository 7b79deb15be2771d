/// The images of a training configuration: read or made, and how far their pixels stray.
#pragma once

#include "app/train_plan.h"
#include "networks/header.h"

namespace penumbra::app {

/// `shown`: with progress on the terminal.
training::ImageSet read_training_images(const TrainPlan& plan, bool shown);

/// Of the training images as they were read, before any augmentation; one batch at a time.
PixelSpread training_spread(const training::ImageSet& images);

/// Writes it to `file`, for a prior that was trained before headers held it, and trains nothing; the exit code.
int write_training_sd(const ConfigOptions& options, const std::filesystem::path& file);

}  // namespace penumbra::app
