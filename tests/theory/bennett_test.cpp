#include "theory/bennett.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/random.h"
#include "support/numbers.h"

namespace penumbra::theory {
namespace {

using test::noise;

TEST(Bennett, OfExactWorksIsTheWork) {
  const auto found = bennett(at::full({10}, 17.5, at::kDouble), at::full({3}, -17.5, at::kDouble));
  EXPECT_NEAR(found.log_ratio, 17.5, 1e-9);
  EXPECT_LT(found.error(), 1e-9);
  EXPECT_NEAR(found.gap, 0, 1e-12);
  EXPECT_NEAR(found.effective, 3, 1e-9);
}

// Works that are Gaussian with variance s^2 have means u - s^2 / 2 and -u - s^2 / 2 (Crooks).
TEST(Bennett, OfGaussianWorksIsRightWithinItsError) {
  const double u = -3, s = 1.5;
  double z2 = 0, bar = 0, bootstrap = 0;
  constexpr int repeats = 200;
  for (int i = 0; i < repeats; ++i) {
    const auto found = bennett(u - s * s / 2 + s * noise(2 * i, {120}), -u - s * s / 2 + s * noise(2 * i + 1, {60}),
                               {.resamples = i < 20 ? 200 : 2});
    z2 += std::pow((found.log_ratio - u) / found.asymptotic_error, 2) / repeats;
    bar += found.log_ratio / repeats;
    if (i < 20) bootstrap += found.bootstrap_error / found.asymptotic_error / 20;
  }
  // The mean square of 200 normal numbers has the SD sqrt(2 / 200) = 0.1.
  EXPECT_NEAR(z2, 1, 0.4);
  EXPECT_NEAR(bar, u, 0.05);  // five standard errors of 0.13 / sqrt(200)
  EXPECT_NEAR(bootstrap, 1, 0.15);
}

TEST(Bennett, ReportsTheGapAndTheSpread) {
  const auto found = bennett(-8 + 4 * noise(1, {4000}), -8 + 4 * noise(2, {4000}), {.resamples = 2});
  EXPECT_NEAR(found.gap, 16, 5 * 4 * std::sqrt(2.0 / 4000));
  EXPECT_NEAR(found.gap_error, 4 * std::sqrt(2.0 / 4000), 0.005);
  EXPECT_NEAR(found.forward_sd, 4, 0.25);
  EXPECT_NEAR(found.backward_sd, 4, 0.25);
  EXPECT_LT(found.effective, 1000);
}

TEST(Bennett, TheBootstrapIsTheSeeds) {
  const auto forward = noise(1, {30}), backward = noise(2, {30});
  EXPECT_EQ(bennett(forward, backward, {.seed = 5}).bootstrap_error,
            bennett(forward, backward, {.seed = 5}).bootstrap_error);
  EXPECT_NE(bennett(forward, backward, {.seed = 5}).bootstrap_error,
            bennett(forward, backward, {.seed = 6}).bootstrap_error);
}

}  // namespace
}  // namespace penumbra::theory
