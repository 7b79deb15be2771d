/// Denoising score matching: the task of priors.
#pragma once

#include "training/noise_levels.h"
#include "training/task.h"

namespace penumbra::training {

class Denoising final : public Task {
 public:
  explicit Denoising(const NoiseLevels& levels) : levels_(levels) {}

  /// Mean over images and pixels of w(sigma) |D(x + sigma n, sigma) - x|^2.
  Tensor loss(const ScoreNetwork& network, const Tensor& x, const Cursor& at, int64_t batch) const override;
  std::vector<Band> bands(int64_t count) const override;
  Judged judge(const ScoreNetwork& network, const Tensor& x, const Band& band, const HeldOut& which) const override;

 private:
  NoiseLevels levels_;
};

}  // namespace penumbra::training
