/// Denoising score matching: one step of training, and how good the network is at held-out images.
#pragma once

#include <optional>

#include "networks/header.h"
#include "team/team.h"
#include "training/adam.h"
#include "training/augment.h"
#include "training/images.h"
#include "training/noise_levels.h"
#include "training/order.h"
#include "training/trained_parameters.h"

namespace penumbra::training {

struct TrainerOptions {
  int64_t steps = 0;
  int64_t batch = 64;      ///< images a step, all processes together
  int64_t accumulate = 1;  ///< parts into which a process cuts its share of a batch, where memory is short
  AdamOptions adam;
  double ema_decay = 0.999;  ///< per step; lower in the first steps
  NoiseLevels levels;
  AugmentOptions augment;
  at::ScalarType compute = at::kFloat;
  uint64_t seed = 0;
};

/// Loss and PSNR of the denoiser in a band of noise levels.
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
    Tensor loss;           ///< mean over the batch, weighted so that every noise level counts alike
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
  Tensor noise(const Tensor& like, int64_t first_row) const;
  /// Mean over images and pixels of w(sigma) |D(x + sigma n, sigma) - x|^2.
  Tensor loss(const Tensor& x, const Tensor& sigma, const Tensor& noise) const;
  /// The factor w(sigma) that makes the loss of a network that knows nothing about 1 at every level, [N].
  Tensor weight(const Tensor& sigma) const;

  TrainerOptions options_;
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
