/// Training: one step of it, and how good the network is at held-out images.
#pragma once

#include <optional>

#include "networks/header.h"
#include "team/team.h"
#include "training/adam.h"
#include "training/augment.h"
#include "training/denoising.h"
#include "training/images.h"
#include "training/order.h"
#include "training/trained_parameters.h"

namespace penumbra::training {

struct TrainerOptions {
  int64_t steps = 0;
  int64_t batch = 64;      ///< images a step, all processes together
  int64_t accumulate = 1;  ///< parts into which a process cuts its share of a batch, where memory is short
  AdamOptions adam;
  double ema_decay = 0.999;          ///< per step; lower in the first steps
  NoiseLevels levels;                ///< of denoising
  std::shared_ptr<const Task> task;  ///< none: denoising
  AugmentOptions augment;
  at::ScalarType compute = at::kFloat;
  uint64_t seed = 0;
};

/// Loss and PSNR in a band of noise levels; of a task without levels, whose band is zero, in all.
struct BandQuality {
  double sigma_low = 0, sigma_high = 0;
  double loss = 0;
  double psnr = 0;  ///< peak: half of the pixels' range, so 1 for [-1, 1], as the paper has it
};

class Trainer {
 public:
  /// `header` states architecture and parameterisation. The images should be on `device` already.
  Trainer(const TrainerOptions& options, const NetworkHeader& header, const ImageSet& images, const Team& team,
          at::Device device);

  /// One step on one batch. Numbers on the device, which reading would wait for.
  struct Step {
    Tensor loss;           ///< the task's, mean over the batch
    Tensor gradient_norm;  ///< before it was limited
  };
  Step step();

  int64_t k() const { return k_; }
  /// Of the step before.
  double learning_rate() const { return options_.adam.rate(std::max<int64_t>(k_ - 1, 0), options_.steps); }

  enum class Which { raw, ema };
  /// On the first `images` held-out images, the same noise every time.
  std::vector<BandQuality> validate(Which which, int64_t bands, int64_t images) const;

  /// The weights by name, float32.
  std::map<std::string, Tensor> weights(Which which) const;

  /// Everything that a later process needs to go on as if nothing had happened.
  std::map<std::string, Tensor> state() const;
  void restore(const std::map<std::string, Tensor>& state, int64_t k);

 private:
  ScoreNetwork judged(Which which) const;

  TrainerOptions options_;
  std::shared_ptr<const Task> task_;
  NetworkHeader header_;
  const ImageSet& images_;
  const Team& team_;
  at::Device device_;
  BatchOrder order_;
  TrainedParameters parameters_;
  ScoreNetwork network_;
  Adam adam_;
  Tensor ema_, gradient_;
  int64_t k_ = 0;
};

}  // namespace penumbra::training
