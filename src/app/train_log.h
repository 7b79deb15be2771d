/// What a training run writes down as it goes: history.csv, validation.csv, and the same for its checkpoint.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "training/trainer.h"

namespace penumbra::app {

class TrainLog {
 public:
  struct Row {
    int64_t step = 0, images = 0;
    double seconds = 0, loss = 0, learning_rate = 0, gradient_norm = 0, images_per_second = 0;
  };
  void add(const Row& row);
  void add(int64_t step, training::Trainer::Which which, const std::vector<training::BandQuality>& bands);

  void write(const std::filesystem::path& folder) const;
  std::map<std::string, Tensor> state() const;
  void restore(const std::map<std::string, Tensor>& state);

  /// The last validation, per band: loss at the start, raw and EMA at the end, PSNR of the EMA. A task without noise
  /// levels has one band, without a sigma.
  nlohmann::json bands() const;
  /// The same in a sentence, and in lines for the terminal.
  std::string verdict() const;
  std::string lines() const;
  const std::vector<std::vector<double>>& history() const { return history_; }

 private:
  std::vector<std::vector<double>> history_, validation_;
};

}  // namespace penumbra::app
