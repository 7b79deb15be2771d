#include "diagnostics/monte_carlo.h"

#include <gtest/gtest.h>

#include "diagnostics/chains.h"
#include "diagnostics/convergence.h"

namespace penumbra::diagnostics {
namespace {

using test::independent;
using test::number;

TEST(Kurtosis, EqualsTheFormulaByHand) {
  // 0, 0, 0, 4: mean 1, second moment 3, fourth 21; times 5/3.
  const auto draws = at::tensor({0.0, 0.0, 0.0, 4.0}, at::kDouble).reshape({1, 4, 1});
  EXPECT_NEAR(number(kurtosis(draws)), 21.0 / 9 * 5 / 3, 1e-14);
}

// The SD of the sample kurtosis of N Gaussian draws is about sqrt(24 / N): 0.98 for 25, 0.077 for 4000.
TEST(Kurtosis, IsThreeForGaussianDrawsFewOrMany) {
  EXPECT_NEAR(number(kurtosis(independent({1, 25, 20000})).mean()), 3, 5 * 0.98 / std::sqrt(20000.0));
  EXPECT_NEAR(number(kurtosis(independent({40, 100, 100})).mean()), 3, 5 * 0.077 / std::sqrt(100.0));
}

TEST(Kurtosis, StaysWithinBounds) {
  auto one_outlier = at::zeros({1, 1000, 1}, at::kDouble);
  one_outlier[0][0] = 1;
  EXPECT_EQ(number(kurtosis(one_outlier)), 30);
  const auto two_values = at::arange(1000, at::kDouble).remainder(2).reshape({1, 1000, 1});
  EXPECT_EQ(number(kurtosis(two_values)), 1.5);
  EXPECT_EQ(number(kurtosis(at::ones({3, 4, 1}))), 3);
}

// Over many pixels, the scatter of mean and SD maps is what their standard errors say. Uniform draws (kurtosis 1.8)
// tell the delta method from its Gaussian special case. 4000 squares have SD sqrt(2 / 4000) = 2.2 %.
TEST(MonteCarloError, IsTheScatterOfTheMaps) {
  const int64_t N = 100, pixels = 4000;
  const auto gaussian = independent({1, N, pixels});
  const auto flat = uniform({4, 0, 0}, Stream::probe, at::empty({N, pixels}, at::kDouble)).unsqueeze(0);
  for (const auto& [draws, sd] : {std::pair{gaussian, 1.0}, {flat, std::sqrt(1.0 / 12)}}) {
    const auto size = ess(draws), sds = draws[0].std(0), means = draws[0].mean(0);
    const auto error = mcse_mean(sds, size).mean();
    EXPECT_NEAR(number(means.std() / error), 1, 5 * 0.011 + 0.01);
    const auto error_sd = mcse_sd_relative(kurtosis(draws), size).mean();
    EXPECT_NEAR(number(sds.std() / error_sd) / sd, 1, 5 * 0.011 + 0.03);
  }
}

}  // namespace
}  // namespace penumbra::diagnostics
