#include "diagnostics/convergence.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "diagnostics/chains.h"

namespace penumbra::diagnostics {
namespace {

using test::autoregressive;
using test::independent;
using test::number;

// By hand: chains (0, 1, 4, 5) and (2, 3, 2, 3), four halves of two. Each half has variance 1/2; their means are
// 0.5, 2.5, 4.5, 2.5, of variance 8/3; (1/2 * 1/2 + 8/3) / (1/2) = 35/6.
TEST(SplitRhat, EqualsTheFormulaByHand) {
  const auto draws = at::tensor({0.0, 2.0, 1.0, 3.0, 4.0, 2.0, 5.0, 3.0}, at::kDouble).reshape({4, 2, 1});
  EXPECT_NEAR(number(split_rhat(draws)), std::sqrt(35.0 / 6), 1e-14);
  // The middle record of five is left out.
  const auto five = at::cat({draws.narrow(0, 0, 2), at::full({1, 2, 1}, 99.0, at::kDouble), draws.narrow(0, 2, 2)});
  EXPECT_NEAR(number(split_rhat(five)), std::sqrt(35.0 / 6), 1e-14);
}

// E[rhat^2] = 1 for independent draws, and its SD here is about sqrt(2 / 7) / 100 = 0.005 a pixel.
TEST(SplitRhat, IsOneForIndependentDraws) {
  const auto rhat = split_rhat(independent({200, 4, 500}));
  EXPECT_NEAR(number(rhat.square().mean()), 1, 5 * 0.0054 / std::sqrt(500.0));
  EXPECT_LT(number(rhat.max()), 1.03);
}

TEST(SplitRhat, SeesSeparatedChainsAndATrend) {
  const auto draws = independent({200, 4, 10});
  const auto shift = 3 * at::arange(4, at::kDouble).reshape({1, 4, 1});
  EXPECT_GT(number(split_rhat(draws + shift).min()), 3);
  const auto trend = at::linspace(0, 6, 200, at::kDouble).reshape({200, 1, 1});
  EXPECT_GT(number(split_rhat(draws + trend).min()), 1.5);
}

// Between chains at 1, 3 | 5, 11 with two records of +-1: group means 2, 8 give B = 18; chain means within a group
// have variance 2 and 18, each chain's records variance 2; W = (4 + 20) / 2 = 12.
TEST(NestedRhat, EqualsTheFormulaByHand) {
  const auto centres = at::tensor({1.0, 3.0, 5.0, 11.0}, at::kDouble).reshape({1, 4, 1});
  EXPECT_NEAR(number(nested_rhat(at::cat({centres - 1, centres + 1}), 2)), std::sqrt(1 + 18.0 / 12), 1e-14);
  EXPECT_NEAR(number(nested_rhat(centres, 2)), std::sqrt(1 + 18.0 / 10), 1e-14);
}

// The mean of M B / W over pixels is that of F(K - 1, K (M - 1)), d / (d - 2).
TEST(NestedRhat, HasTheNullLawForOneRecord) {
  const int64_t K = 6, M = 6, pixels = 20000;
  const auto squared = nested_rhat(independent({1, K * M, pixels}), K).square();
  const double d1 = K - 1, d2 = K * (M - 1), mean = d2 / (d2 - 2);
  const double variance = 2 * mean * mean * (d1 + d2 - 2) / (d1 * (d2 - 4));
  EXPECT_NEAR(number((squared - 1).mean()) * M, mean, 5 * std::sqrt(variance / pixels));
  for (const double p : {0.5, 0.95, 0.99, 0.999}) {
    const auto beyond = number((squared.sqrt() > nested_rhat_quantile(K, M, p)).to(at::kDouble).mean());
    // Five standard errors, and two percent of the tail for Paulson's approximation.
    EXPECT_NEAR(beyond, 1 - p, 5 * std::sqrt(p * (1 - p) / pixels) + 0.02 * (1 - p)) << p;
  }
}

// E[B] and E[W] are estimated by the averages of (nRhat^2 - 1) W and W; the ratio's error is that of B: sqrt(2/(K-1)).
TEST(NestedRhat, NullExpectationHoldsForSeveralRecordsAndBoundsCorrelatedOnes) {
  const int64_t K = 8, M = 8, pixels = 4000;
  for (const int64_t T : {2, 5, 20}) {
    const auto excess = number((nested_rhat(independent({T, K * M, pixels}), K).square() - 1).mean());
    const auto null = nested_rhat_null(M, T) * nested_rhat_null(M, T) - 1;
    // 5 standard errors, and the ratio's bias 2 / (degrees of freedom of W), at least K (M - 1).
    EXPECT_NEAR(excess / null, 1, 5 * std::sqrt(2.0 / (K - 1) / pixels) + 2.0 / (K * (M - 1))) << T;
    const auto correlated = number((nested_rhat(autoregressive(0.95, {T, K * M, pixels}), K).square() - 1).mean());
    EXPECT_GT(correlated, null);
    EXPECT_LT(correlated, 1.1 * (nested_rhat_null(M, 1) * nested_rhat_null(M, 1) - 1));
  }
}

TEST(NestedRhat, SeesGroupsThatShareAStart) {
  const auto starts = 3 * independent({1, 6, 50}, 9).repeat_interleave(6, 1);
  EXPECT_GT(number(nested_rhat(independent({1, 36, 50}) + starts, 6).median()), nested_rhat_quantile(6, 6, 0.999));
}

TEST(NestedRhat, IsBlindToIndependentStarts) {
  // Chains that have not moved from wide independent starts: the reason why the verdict does not rest on it.
  const auto stuck = 100 * independent({1, 36, 5000});
  EXPECT_NEAR(number(nested_rhat(stuck, 6).median()), nested_rhat_quantile(6, 6, 0.5), 0.01);
}

TEST(Convergence, ConstantPixelsAreConverged) {
  const auto draws = at::full({10, 4, 3}, 0.1, at::kDouble);
  EXPECT_TRUE((split_rhat(draws) == 1).all().item<bool>());
  EXPECT_TRUE((nested_rhat(draws, 2) == 1).all().item<bool>());
  EXPECT_TRUE((ess(draws) == 40).all().item<bool>());
  EXPECT_TRUE((ess(draws.narrow(0, 0, 2)) == 8).all().item<bool>());
}

TEST(Convergence, StuckChainsAreNot) {
  const auto stuck = at::arange(4, at::kDouble).reshape({1, 4, 1}).repeat({10, 1, 1});
  EXPECT_GT(number(split_rhat(stuck)), 1e6);
}

TEST(Convergence, KeepsThePixelShape) {
  const auto draws = independent({8, 16, 30}).reshape({8, 16, 2, 3, 5});
  for (const auto& map : {split_rhat(draws), nested_rhat(draws, 4), ess(draws)})
    EXPECT_EQ(map.sizes(), (std::vector<int64_t>{2, 3, 5}));
}

TEST(Convergence, RefusesTooFewDraws) {
  EXPECT_THROW(split_rhat(at::zeros({3, 4, 1})), InputError);
  EXPECT_THROW(nested_rhat(at::zeros({1, 4, 1}), 4), InputError);
  EXPECT_THROW(nested_rhat(at::zeros({1, 4, 1}), 1), InputError);
}

}  // namespace
}  // namespace penumbra::diagnostics
