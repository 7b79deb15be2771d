/// The folder of a training run as the report reads it; a run still under way lacks some of it.
#pragma once

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <vector>

#include "report/csv.h"

namespace penumbra::report {

/// The losses over training of one range of noise levels, with one set of weights; of a network that reconstructs, the
/// range is zero.
struct ValidationCurve {
  double sigma_low = 0, sigma_high = 0;
  bool ema = false;  ///< the averaged weights, not the raw ones
  std::vector<double> step, loss, psnr;
};

struct SampleGrid {
  int64_t step = 0;
  std::filesystem::path path;
};

struct TrainingFolder {
  std::filesystem::path path;
  std::string config;                       ///< config.yaml as text; empty where absent
  nlohmann::json summary;                   ///< summary.json; an empty object where absent
  Columns history;                          ///< history.csv; always has step and loss
  std::vector<ValidationCurve> validation;  ///< validation.csv, by sigma, the averaged weights first
  std::vector<SampleGrid> samples;          ///< samples/step-XXXXXXXX.png, by step
};

/// Throws InputError naming the file where history.csv is missing or any one is not what it should be.
TrainingFolder read_training(const std::filesystem::path& folder);

}  // namespace penumbra::report
