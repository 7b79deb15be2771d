// Training on Gaussian images, where the best denoiser and its loss are known.
//
// Images N(0, C) with eigenvalues l_i and mean s^2: the best denoiser of x + sigma n leaves an error with eigenvalues
// m_i = l_i sigma^2 / (l_i + sigma^2). With sigma_data = s the loss's weight is 1 / c_out^2 = (s^2 + sigma^2) / (s
// sigma)^2, so no network's expected loss is below w mean(m_i); for white noise, l_i = s^2, that is exactly 1 at every
// sigma. One image's loss varies by 2 w^2 sum(m_i^2) / n^2, which gives the sampling error of a mean over held-out
// images.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "core/random.h"
#include "io/npy.h"
#include "support/paths.h"
#include "training/small_trainer.h"

namespace penumbra::training {
namespace {

constexpr int64_t side = 8, pixel_count = side * side;
constexpr int64_t train_count = 4096, validation_count = 1024, bands = 4;
constexpr double s = 0.5, range = 8 * s;

/// Images L z L^t whose rows and columns each have the covariance s L L^t, through NPY files as a user would.
ImageSet gaussian_images(const Tensor& root) {
  const auto folder = test::scratch();
  for (const auto& [name, count, k] : {std::tuple("train", train_count, 0), {"validation", validation_count, 1}}) {
    std::filesystem::create_directories(folder / name);
    const auto z = normal({3, 0, k}, Stream::truth, at::empty({count, 1, side, side}, at::kDouble));
    io::write_npy(folder / name / "images.npy", (s * root.matmul(z).matmul(root.t())).to(at::kFloat));
  }
  return read_images({.folder = folder / "train",
                      .validation_folder = folder / "validation",
                      .height = side,
                      .width = side,
                      .low = -range,
                      .high = range});
}

struct Best {
  double loss = 0, standard_error = 0;
};

/// The mean over the levels of a band at which Trainer::validate looks.
Best best_loss(const Tensor& eigenvalues, double low, double high) {
  Best best;
  double variance = 0;
  for (int64_t i = 0; i < validation_count; ++i) {
    const double sigma = low * std::pow(high / low, (static_cast<double>(i) + 0.5) / validation_count);
    const auto m = eigenvalues * sigma * sigma / (eigenvalues + sigma * sigma);
    const double weight = (s * s + sigma * sigma) / (s * s * sigma * sigma);
    best.loss += weight * m.mean().item<double>() / validation_count;
    variance += 2 * weight * weight * m.square().sum().item<double>() / (pixel_count * pixel_count);
  }
  best.standard_error = std::sqrt(variance) / validation_count;
  return best;
}

struct Qualities {
  std::vector<BandQuality> start, end;
};

Qualities train(const ImageSet& images, int64_t steps, double learning_rate) {
  auto options = test::small_options(range);
  options.steps = steps;
  options.batch = 32;
  options.adam.learning_rate = learning_rate;
  options.ema_decay = 0.95;
  const Team team;
  Trainer trainer(options, test::small_header(s, range), images, team, at::kCPU);
  Qualities result;
  result.start = trainer.validate(Trainer::Which::raw, bands, validation_count);
  while (trainer.k() < steps) trainer.step();
  result.end = trainer.validate(Trainer::Which::ema, bands, validation_count);
  return result;
}

TEST(GaussianTraining, WhiteNoiseCannotBeDenoisedBelowALossOfOne) {
  const auto images = gaussian_images(at::eye(side, at::kDouble));
  const auto result = train(images, 100, 2e-3);
  for (const auto& band : result.end) {
    const auto best = best_loss(at::full({pixel_count}, s * s, at::kDouble), band.sigma_low, band.sigma_high);
    ASSERT_NEAR(best.loss, 1, 1e-12);
    // One image: variance 2 / 64; of 1024 images the standard error is 0.0055.
    ASSERT_NEAR(best.standard_error, std::sqrt(2.0 / pixel_count / validation_count), 1e-12);
    EXPECT_GE(band.loss, 1 - 4 * best.standard_error) << band.sigma_low;
    EXPECT_LE(band.loss, 1.05) << band.sigma_low;
  }
}

TEST(GaussianTraining, SmoothFieldsAreDenoisedAlmostAsWellAsPossible) {
  // Rows and columns with correlations 0.9^distance.
  const auto place = at::arange(side, at::kDouble);
  const auto covariance = at::pow(0.9, (place.unsqueeze(0) - place.unsqueeze(1)).abs());
  const auto eigenvalues = std::get<0>(at::linalg_eigh(covariance));
  const auto products = s * s * (eigenvalues.unsqueeze(0) * eigenvalues.unsqueeze(1)).flatten();
  const auto result = train(gaussian_images(at::linalg_cholesky(covariance)), 300, 2e-3);
  for (size_t i = 0; i < bands; ++i) {
    const auto& band = result.end[i];
    const auto best = best_loss(products, band.sigma_low, band.sigma_high);
    ASSERT_LT(best.loss, 0.7);
    EXPECT_GE(band.loss, best.loss - 4 * best.standard_error) << band.sigma_low;
    // Measured: 1.03 to 1.14 times the best.
    EXPECT_LE(band.loss, 1.25 * best.loss) << band.sigma_low;
    EXPECT_LE(band.loss, 0.8 * result.start[i].loss) << band.sigma_low;
  }
}

}  // namespace
}  // namespace penumbra::training
