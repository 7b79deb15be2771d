#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "app/experiments/statistical/comparison.h"
#include "io/image.h"
#include "support/paths.h"

namespace penumbra::app::statistical {
namespace {

Parameters small() {
  Parameters parameters;
  parameters.side = 12;
  parameters.chains = 60;
  return parameters;
}

/// Made once: several tests look at it.
const Setting& setting() {
  static const auto made = make_setting(small(), surrogate_images(small().side, 1), 1);
  return made;
}

const Laws& laws() {
  static const auto made = make_laws(setting());
  return made;
}

/// Draws of a mixture of the laws, as a perfect sampler of them would give.
Samples draws(const ModeLaws& law, int64_t first, int64_t second) {
  const auto root = at::linalg_cholesky(law.covariance);
  auto x = normal({9, 0, 0}, Stream::probe, at::empty({first + second, root.size(0)}, at::kDouble)).mm(root.t());
  x.narrow(0, 0, first).add_(law.means[0]);
  x.narrow(0, first, second).add_(law.means[1]);
  return {x, 0};
}

TEST(Statistical, ThePosteriorIsBimodalAndUndecided) {
  EXPECT_GT(setting().separation, 10);
  EXPECT_LT(std::abs(setting().log_odds), 1.5);
  EXPECT_GT(setting().log_odds_sd, 10);  // a typical image is not
}

TEST(Statistical, TheLogOddsOfTheSearchAreThoseOfTheExactPosterior) {
  EXPECT_NEAR(std::log(setting().weight(0) / setting().weight(1)), setting().log_odds, 1e-6);
}

TEST(Statistical, TheLawsModesAreThoseOfTheExactPosterior) {
  for (size_t j = 0; j < 2; ++j) {
    const auto& mode = setting().posterior->components()[j];
    EXPECT_LT(test::relative_error(laws().exact.means[j], mode.mean), 1e-8);
    EXPECT_LT(test::relative_error(laws().exact.covariance, mode.covariance->dense()), 1e-8);
  }
}

TEST(Statistical, TheLawIsAFixedPointOfTheStep) {
  const auto& modes = setting().prior->components();
  const double beta = setting().parameters.beta;
  for (const auto& [discretization, law] : laws().stationary)
    for (size_t j = 0; j < 2; ++j) {
      const theory::LinearGaussian gaussian(
          {setting().A, setting().y, beta * beta, modes[j].mean, modes[j].covariance->dense()});
      const auto map = gaussian.map({.gamma = setting().parameters.gamma,
                                     .annealing = {setting().parameters.sigma_min, 1},
                                     .discretization = discretization});
      const auto next = theory::propagate({law.means[j], law.covariance}, map);
      EXPECT_LT(test::relative_error(next.mean, law.means[j]), 1e-9);
      EXPECT_LT(test::relative_error(next.covariance, law.covariance), 1e-9);
    }
}

TEST(Statistical, BothLawsAreWiderThanThePosterior) {
  for (const auto& [discretization, law] : laws().stationary) EXPECT_GT(law.trace(), 1.02 * laws().exact.trace());
}

TEST(Statistical, DrawsOfTheLawPassAndDrawsOfThePosteriorDoNot) {
  const auto algorithm = algorithms()[0];
  const auto& law = laws().stationary.at(algorithm.discretization);
  const auto right = compare(setting(), laws(), algorithm, draws(law, 300, 100));
  const auto wrong = compare(setting(), laws(), algorithm, draws(laws().exact, 300, 100));
  EXPECT_EQ(right.modes[0].count, 300);
  EXPECT_EQ(right.modes[1].count, 100);
  for (const auto& mode : right.modes) {
    EXPECT_LT(std::abs(mode.mean_z_law), 4);
    EXPECT_LT(std::abs(mode.trace_z_law), 4);
    EXPECT_NEAR(mode.sd_error_law, 1, 0.2);
  }
  for (const auto& mode : wrong.modes) EXPECT_GT(std::abs(mode.trace_z_law), 5);
}

TEST(Statistical, TheSamplersFollowTheLaw) {
  for (const auto& algorithm : algorithms()) {
    const auto result = compare(setting(), laws(), algorithm, sample(setting(), algorithm, 5));
    EXPECT_TRUE(std::any_of(result.modes.begin(), result.modes.end(), [](const auto& mode) { return mode.known(); }));
    for (const auto& mode : result.modes)
      if (mode.known()) {
        EXPECT_LT(std::abs(mode.mean_z_law), 5) << algorithm.name;
        EXPECT_LT(std::abs(mode.trace_z_law), 5) << algorithm.name;
      }
  }
}

TEST(Statistical, ReadsAFolderOfImages) {
  const auto folder = test::scratch();
  const auto faces = surrogate_images(24, 2).candidates.narrow(0, 0, 40).reshape({40, 24, 24});
  const auto bytes = ((faces + 2) * 60).clamp(0, 255).to(at::kByte);
  for (int64_t i = 0; i < 40; ++i) io::write_png(folder / fmt::format("{:02}.png", i), bytes[i]);
  const auto images = folder_images(folder, 12);
  EXPECT_EQ(images.candidates.size(0), 8);
  EXPECT_EQ(images.means.size(1), 144);
  EXPECT_GT((images.means[1] - images.means[0]).norm().item<double>(), 0);
  EXPECT_ANY_THROW(folder_images(folder / "nothing", 12));
}

}  // namespace
}  // namespace penumbra::app::statistical
