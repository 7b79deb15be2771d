/// The magnitude prior against integrals over the phase and the magnitude.
#include "priors/magnitude.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "priors/gaussian_mixture.h"
#include "support/message.h"
#include "support/numbers.h"
#include "support/paths.h"

namespace penumbra {
namespace {

/// Every pixel is the same known number: its denoiser does not look at the image.
class Constant final : public Score {
 public:
  explicit Constant(double value, std::optional<std::pair<double, double>> range = std::nullopt)
      : Score({1, 2, 3}), value_(value), range_(range) {}
  std::optional<std::pair<double, double>> pixel_range() const override { return range_; }
  SigmaRange sigma_range() const override { return {0.01, 50}; }

 private:
  Tensor do_score(const Tensor& x, double sigma, const Cursor&) const override {
    return (value_ - x) / (sigma * sigma);
  }
  Tensor do_denoise(const Tensor& x, double, const Cursor&) const override { return at::full_like(x, value_); }

  double value_;
  std::optional<std::pair<double, double>> range_;
};

Tensor images(int64_t k, const Shape& shape = {4, 2, 2, 3}) { return test::numbers(8, shape, k); }

/// E[m e^{i theta} | z] over a grid of phases, the integrand being periodic and smooth: exact to rounding.
Tensor by_integration(const Tensor& z, double m, double sigma) {
  const int64_t count = 4096;
  const auto theta = at::arange(count, at::TensorOptions().dtype(at::kDouble)) * (2 * M_PI / count);
  const auto re = z.select(1, 0).unsqueeze(-1), im = z.select(1, 1).unsqueeze(-1);
  const auto exponent = m * (re * theta.cos() + im * theta.sin()) / (sigma * sigma);
  const auto weight = at::softmax(exponent, -1);
  return at::stack({(m * weight * theta.cos()).sum(-1), (m * weight * theta.sin()).sum(-1)}, 1);
}

TEST(Magnitude, OfAKnownMagnitudeIsExact) {
  const MagnitudeScore prior(std::make_shared<Constant>(0.8));
  const auto z = images(1);
  for (const double sigma : {0.05, 0.3, 1.0, 10.0}) {
    EXPECT_LT((prior.denoise(z, sigma) - by_integration(z, 0.8, sigma)).abs().max().item<double>(), 1e-12) << sigma;
    EXPECT_LT(test::relative_error(prior.score(z, sigma), (by_integration(z, 0.8, sigma) - z) / (sigma * sigma)),
              1e-10);
  }
}

TEST(Magnitude, ZeroIsTheLowEndOfThePixelRange) {
  const MagnitudeScore prior(std::make_shared<Constant>(-0.2, std::pair{-1.0, 1.0}));
  const auto z = images(2);
  EXPECT_LT((prior.denoise(z, 0.3) - by_integration(z, 0.8, 0.3)).abs().max().item<double>(), 1e-12);
}

TEST(Magnitude, NegativeMagnitudesAndZerosAreHarmless) {
  const MagnitudeScore negative(std::make_shared<Constant>(-0.5));
  EXPECT_EQ(negative.denoise(images(3), 0.3).abs().max().item<double>(), 0);
  const MagnitudeScore prior(std::make_shared<Constant>(0.8));
  for (const auto type : {at::kFloat, at::kDouble})
    EXPECT_EQ(prior.score(at::zeros({1, 2, 2, 3}, type), 0.1).abs().max().item<double>(), 0);
  // Far beyond where I0 overflows.
  EXPECT_TRUE(at::isfinite(prior.score(1e6 * images(4).to(at::kFloat), 0.01)).all().item<bool>());
}

TEST(Magnitude, AtHighSignalTheScoreHasThePhasesVolume) {
  // m ~ N(2, 0.1), Gaussian: the density of z is N(r; 2, 0.1 + sigma^2) / (2 pi r) but for terms of relative order
  // (sigma / r)^2, so its score is -(r - 2) / (0.1 + sigma^2) - 1/r, along z.
  const double sigma = 0.02, variance = 0.1;
  const auto options = at::TensorOptions().dtype(at::kDouble);
  const auto inner = std::make_shared<GaussianMixture>(
      Shape{1, 2, 3},
      std::vector<Component>{{1, at::full({6}, 2.0, options), Covariance::diagonal(at::full({6}, variance, options))}});
  const MagnitudeScore prior(inner);
  const auto direction = images(5) / images(5).norm(2, {1}, true);
  const auto r = 2 + 0.3 * images(6, {4, 1, 2, 3}).clamp(-2, 2);
  const auto expected = direction * (-(r - 2) / (variance + sigma * sigma) - 1 / r);
  EXPECT_LT(test::relative_error(prior.score(r * direction, sigma), expected), 2e-3);
  EXPECT_LT(test::relative_error(prior.score(r * direction, 0), direction * (-(r - 2) / variance - 1 / r)), 1e-12);
}

TEST(Magnitude, PassesTheRangeOfSigmaOn) {
  const MagnitudeScore prior(std::make_shared<Constant>(0.8));
  EXPECT_EQ(prior.sigma_range().high, 50);
  EXPECT_EQ(prior.image_shape(), (Shape{2, 2, 3}));
  EXPECT_THROW(prior.score(images(1), 0.001), InputError);
}

TEST(Magnitude, WantsAPriorOfOneChannel) {
  auto settings =
      Settings::from_text("{kind: magnitude, prior: {kind: gaussian, image_shape: [3, 2, 2], variance: 1}}", "c.yaml");
  const auto message = test::message_of([&] { make_prior(settings, {}); });
  EXPECT_TRUE(test::contains(message, "one channel")) << message;
  EXPECT_TRUE(test::contains(message, "3x2x2")) << message;
}

}  // namespace
}  // namespace penumbra
