#include "diagnostics/metrics.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "diagnostics/chains.h"

namespace penumbra::diagnostics {
namespace {

Tensor image(std::vector<double> pixels) { return at::tensor(pixels, at::kDouble).reshape({1, 2, -1}); }

// Errors -0.5, 0.1, 0, 0.2: squares 0.25, 0.01, 0, 0.04, of mean 0.075.
const auto truth = image({0.5, -0.5, 0.0, 1.0});
const auto mean = image({1.0, -0.6, 0.0, 0.8});
const auto sd = image({0.1, 0.2, 0.3, 0.4});

TEST(Metrics, EqualTheHandComputation) {
  const auto m = compare(truth, {mean, sd, {}});
  EXPECT_NEAR(m.mse, 0.075, 1e-15);
  EXPECT_NEAR(m.mae, 0.2, 1e-15);
  EXPECT_NEAR(m.psnr_paper, 11.249387366083, 1e-11);  // 10 log10(1 / 0.075)
  EXPECT_NEAR(*m.psnr_range, 10 * std::log10(1.5 * 1.5 / 0.075), 1e-12);
  // 0.25/0.02 + 0.01/0.08 + 0 + 0.04/0.32 = 12.75; log(0.1 * 0.2 * 0.3 * 0.4) = log 0.0024.
  EXPECT_NEAR(m.nll, (12.75 + std::log(0.0024)) / 4 + 0.918938533204673, 1e-12);
  EXPECT_EQ(m.coverage_3sd, 0.75);
  EXPECT_NEAR(m.mean_sd, 0.25, 1e-15);
  EXPECT_TRUE(m.calibration.empty());
  EXPECT_FALSE(m.ssim);
}

// Ranks of |error| are 4, 2, 1, 3 against 1, 2, 3, 4 of the SD: 1 - 6 (9 + 0 + 4 + 1) / (4 * 15) = -0.4.
TEST(Metrics, RankCorrelationIsSpearmans) {
  EXPECT_NEAR(*compare(truth, {mean, sd, {}}).error_sd_rank_correlation, -0.4, 1e-14);
  EXPECT_FALSE(compare(truth, {mean, at::ones_like(sd), {}}).error_sd_rank_correlation);
}

// Of 0.8 -> 1 only the clipped value enters; errors -0.5, 0.1, 0, 0 after clipping 1.3 to 1.
TEST(Metrics, ThePapersPsnrClipsTheMeanAndNothingElse) {
  const auto beyond = image({1.0, -0.6, 0.0, 1.3});
  const auto m = compare(truth, {beyond, sd, {}}, PixelRange{-1, 1});
  EXPECT_NEAR(m.psnr_paper, 10 * std::log10(1 / 0.065), 1e-12);
  EXPECT_NEAR(m.mse, (0.25 + 0.01 + 0.09) / 4, 1e-15);
  EXPECT_NEAR(*m.psnr_range, 10 * std::log10(2.25 / m.mse), 1e-12);
}

TEST(Metrics, NllStaysFiniteWithoutSpread) {
  const auto m = compare(truth, {mean, at::zeros_like(sd), {}});
  EXPECT_TRUE(std::isfinite(m.nll));
  EXPECT_EQ(m.floored_pixels, 4);
  EXPECT_EQ(m.coverage_3sd, 0.25);
}

// Truth and draws of one law: pixels are independent, so 5 binomial standard errors; the interval's exact coverage
// for uniform draws is the expected one.
TEST(Metrics, CalibrationIsRightForDrawsOfTheTruthsLaw) {
  const int64_t N = 50, n = 40000;
  const auto draws = uniform({8, 0, 0}, Stream::truth, at::empty({N + 1, 1, 200, 200}, at::kDouble));
  const auto samples = draws.narrow(0, 1, N);
  const auto m = compare(draws[0], {samples.mean(0), samples.std(0), samples});
  ASSERT_EQ(m.calibration.size(), 11u);
  for (const auto& [nominal, empirical, expected] : m.calibration) {
    EXPECT_NEAR(empirical, expected, 5 * std::sqrt(0.25 / n)) << nominal;
    EXPECT_NEAR(expected, nominal * 49 / 51, 1e-14);
  }
  // Draws of half the spread are overconfident.
  const auto narrow = compare(draws[0], {samples.mean(0), samples.std(0), 0.25 + 0.5 * samples});
  EXPECT_NEAR(narrow.calibration[8].empirical, 0.45 * 49 / 51, 0.02);
}

TEST(Metrics, JsonNamesTheConventions) {
  const auto json = nlohmann::json::parse(to_json(compare(truth, {mean, sd, {}}, PixelRange{-1, 1})).dump());
  EXPECT_EQ(json["psnr_paper"]["convention"], "10 log10(1 / mse): peak 1, mean clipped to [-1, 1]");
  EXPECT_TRUE(json["psnr_range"]["convention"].is_string());
  EXPECT_NEAR(json["psnr_paper"]["db"].get<double>(), 11.249387366083, 1e-11);
  EXPECT_TRUE(json["ssim"]["value"].is_null());
  EXPECT_EQ(json["ssim"]["data_range"], 2.0);
}

TEST(Metrics, RefuseShapesThatDoNotAgree) {
  EXPECT_THROW(compare(truth.squeeze(0), {mean, sd, {}}), InputError);
  EXPECT_THROW(compare(truth, {mean.transpose(1, 2).narrow(1, 0, 1), sd, {}}), InputError);
  EXPECT_THROW(compare(truth, {mean, {}, {}}), InputError);
  EXPECT_THROW(compare(truth, {mean, sd, at::zeros({5, 1, 2, 3})}), InputError);
  EXPECT_THROW(compare(truth, {mean, sd, {}}, PixelRange{1, -1}), InputError);
}

}  // namespace
}  // namespace penumbra::diagnostics
