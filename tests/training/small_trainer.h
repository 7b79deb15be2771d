/// A trainer that a test can afford: 8x8 images, one level of 32 channels.
#pragma once

#include "training/trainer.h"

namespace penumbra::test {

inline NetworkHeader small_header(double sigma_data, double pixel_high, double dropout = 0) {
  NetworkHeader header;
  header.architecture = {
      {"kind", "unet"},          {"in_channels", 1},    {"out_channels", 1},     {"model_channels", 32},
      {"num_res_blocks", 1},     {"channel_mult", {1}}, {"fourier_scale", 0.25}, {"use_scale_shift_norm", true},
      {"resblock_updown", true}, {"dropout", dropout}};
  header.parameterisation = {Parameterisation::Kind::karras, sigma_data};
  header.pixel_low = -pixel_high;
  header.pixel_high = pixel_high;
  header.image_shape = {1, 8, 8};
  return header;
}

inline training::TrainerOptions small_options(double pixel_high) {
  training::TrainerOptions options;
  options.steps = 100;
  options.batch = 8;
  options.levels = {.kind = training::NoiseLevels::Kind::log_uniform, .low = 0.05, .high = 5};
  options.adam.warm_up = 10;
  options.augment.low = -pixel_high;
  options.augment.high = pixel_high;
  options.seed = 5;
  return options;
}

}  // namespace penumbra::test
