/// A denoiser of one noise level for every level: D_s(x) = D(mu x) / mu with mu = level / s, black staying black (Xu et
/// al. 2020). Without it PnP and RED would be held to the one level that their network was trained for.
#pragma once

#include "priors/score.h"

namespace penumbra::app::linear {

class ScaledDenoiser final : public Score {
 public:
  /// `one` denoises at `level`, pixels from -1 (black) to 1.
  ScaledDenoiser(std::shared_ptr<const Score> one, double level)
      : Score(one->image_shape()), one_(std::move(one)), level_(level) {}
  std::optional<std::pair<double, double>> pixel_range() const override { return one_->pixel_range(); }

 private:
  Tensor do_score(const Tensor& x, double sigma, const Cursor& at) const override;
  Tensor do_denoise(const Tensor& x, double sigma, const Cursor& at) const override;

  std::shared_ptr<const Score> one_;
  double level_;
};

}  // namespace penumbra::app::linear
