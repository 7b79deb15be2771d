/// The share of the prior's SD that the data removed, pixel by pixel.
#include "app/data_share.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace penumbra::app {
namespace {

TEST(DataShare, IsClampedAndSaysWhereThePriorDoesNotStray) {
  const auto posterior = at::tensor({0.5, 2.0, 0.0, 0.1, 0.0}, at::kDouble);
  const auto prior = at::tensor({1.0, 1.0, 2.0, 0.0, 0.0}, at::kDouble);
  const auto found = data_share(posterior, prior, 0);
  EXPECT_NEAR(found.share[0].item<double>(), 0.5, 1e-15);
  EXPECT_EQ(found.share[1].item<double>(), 0) << "wider than the prior";
  EXPECT_EQ(found.share[2].item<double>(), 1);
  EXPECT_TRUE(std::isnan(found.share[3].item<double>()));
  EXPECT_TRUE(std::isnan(found.share[4].item<double>()));
  EXPECT_NEAR(found.wider, 1.0 / 3, 1e-15);
  EXPECT_EQ(found.median, 0.5);
}

TEST(DataShare, ThePriorCarriesTheSamplesNoiseToo) {
  const auto found = data_share(at::full({2}, 0.5, at::kDouble), at::full({2}, 0.3, at::kDouble), 0.4);
  EXPECT_NEAR(found.share[0].item<double>(), 0, 1e-15) << "sqrt(0.09 + 0.16) = 0.5: the data said nothing";
}

}  // namespace
}  // namespace penumbra::app
