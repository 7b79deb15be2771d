#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "app/experiments/weights/images.h"
#include "app/experiments/weights/plane.h"

namespace penumbra::app::weights {
namespace {

TEST(WeightsExperiment, TwentyPosteriorsInThePlane) {
  const auto pairs = weigh_plane({.posteriors = 20, .chains = 100, .steps = 600}, 3);
  double counts = 0;
  for (const auto& [exact, noisy] : pairs) {
    EXPECT_TRUE(exact.odds.trusted) << exact.name << ": " << exact.odds.doubt;
    EXPECT_TRUE(noisy.odds.trusted) << noisy.name << ": " << noisy.odds.doubt;
    EXPECT_NEAR(exact.weight(), exact.exact_weight(), 0.01) << exact.name;
    EXPECT_NEAR(noisy.weight(), noisy.exact_weight(), 0.02) << noisy.name;
    counts = std::max(counts, std::abs(exact.share - exact.exact_weight()));
  }
  EXPECT_GT(counts, 0.3) << "the chains' shares are not the weights";
  EXPECT_EQ(weights_table(pairs).rows.size(), 20u);
}

/// Sampling errors of 200 particles are 0.03; what is checked is that the alternatives are far from an even split.
TEST(WeightsExperiment, AlternativesComeNearTheWeights) {
  const PlaneEffort effort{.posteriors = 2, .chains = 50, .steps = 300};
  const auto pairs = weigh_plane(effort, 3);
  const std::vector<Alternative> few{
      {"SMC", "smc", "{sigma_0: 60, sigma_min: 0, step_size: 1}", 200, 200},
      {"replica", "replica", "{sigma_0: 60, sigma_min: 0, step_size: 1, levels: 8}", 60, 200}};
  const auto methods = compare_plane(pairs, effort, few, 3);
  ASSERT_EQ(methods.size(), 6u);
  EXPECT_GT(mean_divergence(methods[0]), 0.1) << "counts";
  EXPECT_LT(mean_divergence(methods[2]), 1e-4) << "odds";
  EXPECT_LT(mean_divergence(methods[4]), 0.03) << "SMC";
  EXPECT_LT(mean_divergence(methods[5]), 0.06) << "replica exchange";
  // Two scores (one taken again after the proposal) and densities of both: at least two a step, and for each level.
  EXPECT_GE(methods[4].found[0].per_chain, 2 * 200);
  EXPECT_GE(methods[5].found[0].per_chain, 2 * 8 * 200);
  EXPECT_EQ(comparison(methods).rows.size(), 6u);
  EXPECT_EQ(odds_comparison(methods).rows.size(), 12u);
}

TEST(WeightsExperiment, ImagesWithModesOfEqualAndUnequalShapes) {
  ImageEffort effort;
  effort.wanted = {-1, 20}, effort.taus = {0.1, 0.2};
  effort.parameters.side = 12, effort.parameters.chains = 100, effort.parameters.steps = 600;
  const auto cases = weigh_images(effort, statistical::surrogate_images(effort.parameters.side, 1), 1);
  ASSERT_EQ(cases.size(), 4u);
  for (const auto& c : cases) {
    ASSERT_TRUE(c.known()) << c.name;
    EXPECT_TRUE(c.odds.trusted) << c.name << ": " << c.odds.doubt;
    EXPECT_NEAR(c.log_odds, c.exact, 0.3) << c.name;
  }
  EXPECT_NEAR(cases[0].exact, -1, 1) << "a candidate of the wanted odds was there";
  EXPECT_NEAR(cases[1].exact, 20, 3);
  EXPECT_EQ(odds_table(cases).rows.size(), 4u);
}

}  // namespace
}  // namespace penumbra::app::weights
