/// Ranks, coverage and verdicts on draws whose law is known: right ones pass, and each way to be wrong has its word.
#include "diagnostics/calibration.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/random.h"
#include "diagnostics/rank_histogram.h"
#include "support/message.h"
#include "support/numbers.h"

namespace penumbra::diagnostics {
namespace {

using test::numbers;

Tensor uniforms(const Shape& shape, int64_t k) {
  return uniform({11, 0, k}, Stream::resample, at::empty(shape, at::kDouble));
}

constexpr int64_t simulations = 200, draws = 50, statistics = 30;

/// Truths and draws N(m, 1) where the draws are bias + width N(m, 1).
Standings simulated(double bias, double width) {
  std::vector<Tensor> places, z;
  std::vector<double> tarp;
  for (int64_t i = 0; i < simulations; ++i) {
    const auto m = 3 * numbers(11, {statistics}, 10 * i), truth = m + numbers(11, {statistics}, 10 * i + 1);
    const auto x = m + bias + width * numbers(11, {draws, statistics}, 10 * i + 2);
    const auto standing = diagnostics::standing(truth, x, uniforms({2, statistics}, 10 * i + 3));
    places.push_back(standing.place);
    z.push_back(standardised_error(standing, draws));
    tarp.push_back(
        tarp_place(truth, x, 3 * numbers(11, {statistics}, 10 * i + 4), uniforms({1, 1}, 10 * i + 5).item<double>()));
  }
  return {at::stack(places), at::stack(z), at::tensor(tarp, at::kDouble)};
}

TEST(Calibration, ChiSquareTailsAreThoseOfTheTables) {
  const auto tail = [](double value, int64_t degrees) {
    return chi_square_tail(at::full({1}, value, at::kDouble), degrees).item<double>();
  };
  // Two degrees: exp(-x / 2). The others are the tables' 5 % and 1 % points.
  EXPECT_NEAR(tail(3, 2), std::exp(-1.5), 1e-12);
  EXPECT_NEAR(tail(16.919, 9), 0.05, 1e-5);
  EXPECT_NEAR(tail(36.191, 19), 0.01, 1e-5);
  EXPECT_EQ(tail(0, 9), 1);
  // Of 10, 20, 20 chi^2 is 4, of 20, 30, 20 it is 20/7.
  const auto p = uniform_p(at::tensor({10, 20, 20, 30, 20, 20}, at::kLong).view({3, 2}));
  EXPECT_NEAR(p[0].item<double>(), std::exp(-2.0), 1e-12);
  EXPECT_NEAR(p[1].item<double>(), std::exp(-10.0 / 7), 1e-12);
}

TEST(Calibration, BinsHoldAllPlaces) {
  const auto counts = bin_counts(uniforms({70, 4}, 0));
  EXPECT_EQ(counts.size(0), 7);
  EXPECT_TRUE(counts.sum(0).eq(70).all().item<bool>());
  EXPECT_EQ(bin_counts(at::ones({30, 1}, at::kDouble))[2].item<int64_t>(), 30);
}

/// Independent statistics: binomial, 3 of 100, and the trials' quantile scatters by one. Of five groups of twenty equal
/// ones a whole group is uneven with 4.9 % probability, two with 0.1 %: the limit of 2 % is one group.
TEST(Calibration, MoreUnevenStatisticsAreAllowedWhereTheyHangTogether) {
  EXPECT_NEAR(static_cast<double>(allowed_uneven(uniforms({100, 100}, 0))), 4, 1);
  const auto place = uniforms({100, 5}, 1).repeat({1, 20});
  EXPECT_EQ(allowed_uneven(place), 20);
  // Wrong widths are no excuse.
  EXPECT_EQ(allowed_uneven(0.25 + 0.5 * place), 20);
}

TEST(Calibration, ARankCountsTheDrawsBelowAndSharesOutEquals) {
  const auto x = at::tensor({1.0, 2.0, 2.0, 5.0}).to(at::kDouble).unsqueeze(1).expand({4, 3});
  const auto truth = at::tensor({0.0, 2.0, 9.0}).to(at::kDouble);
  const auto rank = [&](double u) { return standing(truth, x, at::full({2, 3}, u, at::kDouble)).rank; };
  EXPECT_TRUE(rank(0.1).equal(at::tensor({0.0, 1.0, 4.0}).to(at::kDouble)));
  EXPECT_TRUE(rank(0.5).equal(at::tensor({0.0, 2.0, 4.0}).to(at::kDouble)));
  EXPECT_TRUE(rank(0.999).equal(at::tensor({0.0, 3.0, 4.0}).to(at::kDouble)));
  const auto s = standing(truth, x, at::full({2, 3}, 0.5, at::kDouble));
  EXPECT_TRUE(s.place.allclose((s.rank + 0.5) / 5));
  EXPECT_DOUBLE_EQ(s.mean[0].item<double>(), 2.5);
}

TEST(Calibration, TarpCountsDrawsNearerToTheReference) {
  const auto x = at::tensor({0.0, 1.0, 2.0, 3.0}).to(at::kDouble).unsqueeze(1);
  const auto at_point = [](double v) { return at::full({1}, v, at::kDouble); };
  EXPECT_DOUBLE_EQ(tarp_place(at_point(1.5), x, at_point(-1), 0.5), 2.5 / 5);
  EXPECT_DOUBLE_EQ(tarp_place(at_point(1.5), x, at_point(9), 0.5), 2.5 / 5);
  EXPECT_DOUBLE_EQ(tarp_place(at_point(-4), x, at_point(9), 0.5), 4.5 / 5);
}

TEST(Calibration, FewDrawsWithoutSpreadHaveNoStandardisedError) {
  const auto s = standing(at::zeros({2}, at::kDouble), at::ones({6, 2}, at::kDouble), uniforms({2, 2}, 0));
  EXPECT_TRUE(standardised_error(s, 6).isnan().all().item<bool>());
  const auto few = standing(at::zeros({2}, at::kDouble), numbers(11, {3, 2}, 0), uniforms({2, 2}, 0));
  EXPECT_TRUE(standardised_error(few, 3).isnan().all().item<bool>());
}

TEST(Calibration, RightDrawsAreCalibrated) {
  const auto c = calibration(simulated(0, 1));
  const auto v = calibration_verdict(c);
  EXPECT_TRUE(v.calibrated) << v.text;
  EXPECT_EQ(v.word, "calibrated");
  // 6000 independent z and places: four standard errors.
  EXPECT_NEAR(c.ratio, 1, 4 / std::sqrt(2.0 * simulations * statistics) * 1.1);
  EXPECT_NEAR(c.coverage_90, 0.9, 4 * std::sqrt(0.09 / (simulations * statistics)));
  // An SD from 200 simulations: 5 % of it.
  const double error = std::sqrt(0.09 / (simulations * statistics));
  EXPECT_NEAR(c.coverage_90_error, error, 4 * 0.05 * error);
  // Twenty-one levels, each outside its 95 % band with 5 % probability, neighbours together.
  int outside = 0;
  for (size_t i = 0; i < c.tarp.nominal.size(); ++i)
    outside += c.tarp.measured[i] < c.tarp.low[i] || c.tarp.measured[i] > c.tarp.high[i];
  EXPECT_LE(outside, 5);
}

TEST(Calibration, EachFaultHasItsWord) {
  const auto word = [](double bias, double width) {
    const auto v = calibration_verdict(calibration(simulated(bias, width)));
    EXPECT_FALSE(v.calibrated) << v.text;
    return v.word;
  };
  EXPECT_EQ(word(0, 0.7), "over-confident");
  EXPECT_EQ(word(0, 1.4), "under-confident");
  EXPECT_EQ(word(0.5, 1), "biased and over-confident");  // biased intervals of the right width miss more often
  EXPECT_EQ(word(0.8, 0.7), "biased and over-confident");
}

/// The ratio is the factor by which draws are too narrow.
TEST(Calibration, TheRatioMeasuresTheWidth) {
  EXPECT_NEAR(calibration(simulated(0, 0.7)).ratio, 1 / 0.7, 4 / 0.7 / std::sqrt(2.0 * simulations * statistics) * 1.5);
}

/// One statistic of a hundred may have p < 0.01 by chance, but not p = 1e-20.
TEST(Calibration, OneHopelessStatisticDecides) {
  auto standings = simulated(0, 1);
  standings.place.select(1, 3).mul_(0.5);
  const auto v = calibration_verdict(calibration(standings));
  EXPECT_FALSE(v.calibrated) << v.text;
  EXPECT_LE(v.uneven, 3);
}

TEST(Calibration, AllowsWhatChanceMakesAndDecidesNothingOnAHandful) {
  Calibration c;
  c.simulations = 100;
  c.statistics.resize(100);
  c.allowed_uneven = 3;
  c.coverage_90 = 0.9;
  c.coverage_90_error = 0.01;
  for (size_t s = 0; s < 3; ++s) c.statistics[s].p = 0.005;
  EXPECT_TRUE(calibration_verdict(c).calibrated);
  c.statistics[3].p = 0.005;
  EXPECT_FALSE(calibration_verdict(c).calibrated);
  EXPECT_EQ(calibration_verdict(c).word, "miscalibrated");
  c.simulations = 19;
  EXPECT_EQ(calibration_verdict(c).word, "undecided");
  EXPECT_NE(test::message_of([] {
              calibration({at::zeros({1, 3}), at::zeros({1, 3}), at::zeros({1})});
            }).find("expected two simulations"),
            std::string::npos);
}

}  // namespace
}  // namespace penumbra::diagnostics
