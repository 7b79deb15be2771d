#include "app/experiments/linear/scaled_denoiser.h"

#include <ATen/ATen.h>

namespace penumbra::app::linear {

Tensor ScaledDenoiser::do_denoise(const Tensor& x, double sigma, const Cursor& at) const {
  const double mu = level_ / sigma;
  return (one_->denoise(mu * (x + 1) - 1, level_, at) + 1) / mu - 1;
}

Tensor ScaledDenoiser::do_score(const Tensor& x, double sigma, const Cursor& at) const {
  return (do_denoise(x, sigma, at) - x) / (sigma * sigma);
}

}  // namespace penumbra::app::linear
