/// The prior's own spread: formulas, files of weights, and what is put around a prior.
#include "priors/pixel_sd.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "priors/clamped_sigma.h"
#include "priors/inexact.h"
#include "priors/network.h"
#include "priors/random_field.h"
#include "support/numbers.h"
#include "support/paths.h"
#include "support/random_weights.h"

namespace penumbra {
namespace {

using test::numbers;

TEST(PixelSd, OfAMixtureIsTheDenseCovariancesDiagonal) {
  const auto F = numbers(4, {6, 6}, 1), G = numbers(4, {6, 2}, 2);
  const auto mixture = std::make_shared<GaussianMixture>(
      Shape{1, 2, 3},
      std::vector<Component>{{1, numbers(4, {1, 6}, 3)[0], Covariance::full(F.mm(F.t()))},
                             {3, numbers(4, {1, 6}, 4)[0], Covariance::low_rank(G, 0.3)},
                             {2, numbers(4, {1, 6}, 5)[0], Covariance::diagonal(numbers(4, {1, 6}, 6)[0].square())}});
  const auto found = stored_pixel_sd(*mixture);
  ASSERT_TRUE(found);
  EXPECT_LT(test::relative_error(found->sd.flatten(), mixture->dense_covariance().diagonal().sqrt()), 1e-12);
  EXPECT_EQ(found->sd.sizes(), at::IntArrayRef({1, 2, 3}));
  const InexactScore inexact(mixture, 0.1);
  EXPECT_TRUE(stored_pixel_sd(inexact)->sd.equal(found->sd));
  const ClippedScore clipped(mixture, 10);
  EXPECT_TRUE(stored_pixel_sd(clipped)->sd.equal(found->sd));
}

TEST(PixelSd, OfAnImagePriorIsThatOfItsDraws) {
  const auto prior = random_field({.side = 16, .modes = 6}, {at::kDouble, at::kCPU});
  const auto drawn = prior->draw(4000, {2, 0, 0})->std(0, /*unbiased=*/true);
  // A mixture's pixels are not Gaussian: kurtosis below 6 gives the SD of 4000 draws to sqrt(5 / 16000) = 1.8 %; 5 of
  // those for the largest of 256.
  EXPECT_LT((stored_pixel_sd(*prior)->sd / drawn - 1).abs().max().item<double>(), 0.09);
}

NetworkScore network(const std::optional<PixelSpread>& spread, double low, double high) {
  NetworkHeader header;
  header.architecture = {{"kind", "dncnn"}, {"in_channels", 1}, {"model_channels", 4}, {"depth", 3}};
  header.image_shape = {1, 8, 8};
  header.sigma_low = 0.01, header.sigma_high = 10;
  header.pixel_sd = spread;
  return NetworkScore({header, {}, 0, ""}, low, high);
}

TEST(PixelSd, OfANetworkIsWhatItsFileSaysInTheRunsUnits) {
  EXPECT_FALSE(stored_pixel_sd(network({}, -1, 1)));
  const PixelSpread spread{{1, 2, 2}, {0.4, 0.4, 0.8, 0.8}, "7 training images"};
  const auto found = stored_pixel_sd(network(spread, 0, 1));  // half as wide as the network's own range
  ASSERT_TRUE(found);
  EXPECT_EQ(found->from, "7 training images");
  EXPECT_EQ(found->sd.sizes(), at::IntArrayRef({1, 8, 8}));
  EXPECT_NEAR(found->sd[0][0][5].item<double>(), 0.2, 1e-12);
  EXPECT_NEAR(found->sd[0][7][5].item<double>(), 0.4, 1e-12);
}

TEST(PixelSd, LargeMapsAreStoredCoarserSmallOnesAsTheyAre) {
  const auto small = numbers(4, {2, 5, 7}, 9).abs();
  const auto kept = coarse_spread(small, "x");
  EXPECT_EQ(kept.shape, (Shape{2, 5, 7}));
  EXPECT_LT(test::relative_error(at::tensor(kept.sd, at::kDouble), small.flatten()), 1e-3) << "four digits";
  auto large = at::ones({1, 128, 64}, at::kDouble);
  large[0][0].fill_(7);
  const auto coarse = coarse_spread(large, "x");
  EXPECT_EQ(coarse.shape, (Shape{1, 64, 64}));
  EXPECT_NEAR(coarse.sd[0], 5, 1e-3);  // the root of (49 + 1) / 2
  EXPECT_EQ(coarse.sd[64], 1);
}

}  // namespace
}  // namespace penumbra
