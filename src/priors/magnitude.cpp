#include "priors/magnitude.h"

#include <ATen/ATen.h>

#include "core/error.h"

namespace penumbra {
namespace {

Shape complex_shape(const Shape& magnitude) {
  if (magnitude[0] != 1)
    input_error("prior.prior: magnitude: expected a prior of one channel, found {}", describe(magnitude));
  return {2, magnitude[1], magnitude[2]};
}

/// |z| of [chains, 2, H, W], [chains, 1, H, W]; where it is zero a number so small that z / |z| is zero too.
Tensor modulus(const Tensor& z) { return z.norm(2, {1}, /*keepdim=*/true).clamp_min(1e-20); }

}  // namespace

MagnitudeScore::MagnitudeScore(std::shared_ptr<const Score> magnitude)
    : Score(complex_shape(magnitude->image_shape())),
      magnitude_(std::move(magnitude)),
      black_(magnitude_->pixel_range() ? magnitude_->pixel_range()->first : 0) {}

std::optional<double> MagnitudeScore::pixel_width() const {
  if (magnitude_->pixel_range()) return magnitude_->pixel_width();
  const auto draws = magnitude_->draw(64, {});
  if (!draws) return std::nullopt;
  return 4 * std::sqrt(draws->to(at::kDouble).square().mean().item<double>() / 2);
}

Tensor MagnitudeScore::do_denoise(const Tensor& x, double sigma, const Cursor& at) const {
  const double variance = sigma * sigma;
  const auto r = modulus(x);
  const auto unbiased = (r.square() - variance).clamp_min(0).sqrt();
  const auto D = (magnitude_->denoise(unbiased + black_, sigma, at) - black_).clamp_min(0);
  if (sigma == 0) return x * (D / r);
  const auto kappa = r * D / variance;
  return x * (D * (at::special_i1e(kappa) / at::special_i0e(kappa)) / r);
}

Tensor MagnitudeScore::do_score(const Tensor& x, double sigma, const Cursor& at) const {
  if (sigma > 0) return (do_denoise(x, sigma, at) - x) / (sigma * sigma);
  const auto r = modulus(x);
  return x * ((magnitude_->score(r + black_, 0, at) - 1 / r) / r);
}

namespace {

std::shared_ptr<const Score> make(Settings& settings, const Placement& placement) {
  return std::make_shared<MagnitudeScore>(make_prior(settings.section("prior"), placement));
}

}  // namespace

extern const PriorEntry magnitude{"magnitude", "complex images by a prior of their magnitude, with free phases", make,
                                  "{prior: {kind: gaussian, image_shape: [1, 3, 4], mean: 1.2, variance: 0.04}}"};

}  // namespace penumbra
