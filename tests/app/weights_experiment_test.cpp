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
  EXPECT_EQ(plane_summary(pairs).rows.size(), 4u);
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
