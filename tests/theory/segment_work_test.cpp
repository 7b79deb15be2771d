#include "theory/segment_work.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/random.h"
#include "priors/gaussian_mixture.h"
#include "support/numbers.h"

namespace penumbra::theory {
namespace {

using test::noise;

TEST(SegmentWork, OfOneGaussianIsTheDifferenceOfItsLogDensity) {
  const auto root = noise(1, {6, 6});
  const auto P = root.mm(root.t()) + at::eye(6, at::kDouble);
  const ScoreField score = [&](const Tensor& x) { return -x.mm(P); };
  const auto from = noise(2, {20, 6}), to = 5 * noise(3, {20, 6});
  const auto log_density = [&](const Tensor& x) { return -(x.mm(P) * x).sum(1) / 2; };
  const auto found = segment_work(score, from, to);
  EXPECT_LT((found.work - log_density(to) + log_density(from)).abs().max().item<double>(), 1e-8);
  EXPECT_LT(found.error.max().item<double>(), 1e-8);
  EXPECT_TRUE(found.switch_at.isnan().all().item<bool>());
}

/// Two Gaussians of variance 1 on a line, sqrt(J) apart, the second e^u times as heavy.
GaussianMixture pair_of(double J, double u) {
  const auto one = Covariance::diagonal(at::ones({1}, at::kDouble));
  return GaussianMixture(
      {1, 1, 1}, {{1, at::zeros({1}, at::kDouble), one}, {std::exp(u), at::full({1}, std::sqrt(J), at::kDouble), one}});
}

class Jump : public testing::TestWithParam<double> {};

// The rules leave 2e-5 of a nat in the transition; the log density is exact to 1e-12 of its size, J/2.
TEST_P(Jump, IsFoundAndIntegratedThrough) {
  const double J = GetParam();
  for (const double u : {-1.0, 0.3, 6.0}) {
    const auto mixture = pair_of(J, u);
    const ScoreField score = [&](const Tensor& x) { return mixture.score(x, 0); };
    const auto from = noise(4, {40, 1, 1, 1}), to = from + std::sqrt(J);
    const auto exact = *mixture.log_density(to, 0) - *mixture.log_density(from, 0);
    const auto found = segment_work(score, from, to);
    EXPECT_LT((found.work - exact).abs().max().item<double>(), 1e-3) << u;
    EXPECT_LT((found.work - exact).abs().sub(found.error).max().item<double>(), 1e-9) << "beyond its estimated error";
    EXPECT_LE(found.evaluations, 150 * 40);
    // Equally likely under both: t = 1/2 - x / sqrt(J) - u / J. One near an end is not told from a slope.
    const auto where = 0.5 - from.flatten() / std::sqrt(J) - u / J;
    const auto inside = where.gt(0.25).logical_and(where.lt(0.75));
    if (J >= 50) {
      EXPECT_LT(((found.switch_at - where) * J).index({inside}).abs().max().item<double>(), 1.5) << u;
    }
    if (J > 200) {
      EXPECT_LT((found.jump / J - 1).index({inside}).abs().max().item<double>(), 1e-3) << u;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(SegmentWork, Jump, testing::Values(5.0, 50.0, 150.0, 500.0, 5e4));

// A third mode on the way: its second switch is not looked for, and found by halving where the rules disagree.
TEST(SegmentWork, ASecondSwitchIsIntegratedOrOwnedUpTo) {
  const auto one = Covariance::diagonal(at::ones({1}, at::kDouble));
  const auto at_ = [](double x) { return at::full({1}, x, at::kDouble); };
  const GaussianMixture mixture({1, 1, 1}, {{1, at_(0), one}, {1, at_(20), one}, {1, at_(50), one}});
  const ScoreField score = [&](const Tensor& x) { return mixture.score(x, 0); };
  const auto from = noise(5, {20, 1, 1, 1}), to = from + 50;
  const auto exact = *mixture.log_density(to, 0) - *mixture.log_density(from, 0);
  const auto found = segment_work(score, from, to);
  EXPECT_LT((found.work - exact).abs().max().item<double>(), 0.02);
  const auto poor = segment_work(score, from, to, {.most_evaluations = 1});
  EXPECT_GT(poor.error.min().item<double>(), 0.02);
}

}  // namespace
}  // namespace penumbra::theory
