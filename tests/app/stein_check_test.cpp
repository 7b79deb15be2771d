/// The Stein discrepancy of a run's samples: what it says, and when it says nothing.
#include "app/stein_check.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace penumbra::app {
namespace {

Tensor draws(int64_t count, int64_t side, uint64_t seed = 3) {
  return normal({seed, 0, 0}, Stream::truth, at::empty({count, 1, side, side}, at::kDouble));
}

/// Of a normal law about `mean`; remembers the largest batch that it was given.
OddsSource normal_source(double mean, int64_t* largest = nullptr) {
  return {.score =
              [mean, largest](const Tensor& x) {
                if (largest) *largest = std::max(*largest, x.size(0));
                return mean - x;
              },
          .sigma = 0.1};
}

TEST(SteinCheck, RightSamplesPassAndShiftedOnesDoNot) {
  const auto right = check_stein(draws(60, 3), normal_source(0), {});
  ASSERT_TRUE(right.found);
  EXPECT_GT(right.found->p_value, 0.01);
  const auto good = verdict_on(right);
  EXPECT_EQ(good.level, "good") << good.text;
  // sqrt(60 / (17 sqrt(9))) = 1.085, and sqrt(1.085 / 0.085) = 3.6.
  EXPECT_NEAR(*right.visible_sd_factor(), 3.58, 0.02);
  EXPECT_NE(good.text.find("an SD more than 3.6 times too large"), std::string::npos) << good.text;

  const auto shifted = check_stein(draws(60, 3), normal_source(0.7), {});
  ASSERT_TRUE(shifted.found);
  EXPECT_TRUE(shifted.found->rejected());
  const auto bad = verdict_on(shifted);
  EXPECT_EQ(bad.level, "warning");
  EXPECT_NE(bad.text.find("not those of the posterior"), std::string::npos) << bad.text;
  EXPECT_NE(verdict_on(shifted, 2).text.find("gives the prior the weight 2"), std::string::npos);
  const auto about = to_json(shifted);
  EXPECT_TRUE(about["judged"].get<bool>());
  EXPECT_TRUE(about["rejected"].get<bool>());
  EXPECT_LE(about["p"].get<double>(), 0.01);
  EXPECT_EQ(about["samples"], 60);
  EXPECT_EQ(about["unknowns"], 9);
}

TEST(SteinCheck, ManyUnknownsHideAnyWrongSd) {
  const auto check = check_stein(draws(20, 16), normal_source(0), {});
  EXPECT_FALSE(check.visible_sd_factor());
  EXPECT_NE(verdict_on(check).text.find("no wrong SD"), std::string::npos) << verdict_on(check).text;
  EXPECT_EQ(verdict_on(check).level, "note") << "a blind test is no praise";
  EXPECT_TRUE(to_json(check)["visible_sd_factor"].is_null());
}

TEST(SteinCheck, TakesABoundedNumberOfSamplesInTheSamplersBatches) {
  int64_t largest = 0;
  const auto check = check_stein(draws(130, 2), normal_source(0, &largest), {.batch = 7});
  EXPECT_EQ(check.samples, most_for_stein);
  EXPECT_EQ(largest, 7);
  const auto whole = check_stein(draws(130, 2), normal_source(0, &largest), {});
  EXPECT_EQ(largest, most_for_stein);
  EXPECT_DOUBLE_EQ(check.found->u_statistic, whole.found->u_statistic);
}

TEST(SteinCheck, SaysWhyItCannotJudge) {
  const auto why = [](const Tensor& x, const OddsSource& from) {
    const auto check = check_stein(x, from, {});
    EXPECT_FALSE(check.found);
    EXPECT_EQ(verdict_on(check).level, "note");
    EXPECT_FALSE(to_json(check)["judged"].get<bool>());
    return to_json(check)["why_not"].get<std::string>();
  };
  EXPECT_EQ(why(draws(7, 2), normal_source(0)), "7 chains are too few to judge by; 8 are needed");
  EXPECT_EQ(why(draws(9, 2), {.sigma = 0, .missing = "no score"}), "no score");
  EXPECT_EQ(why(at::ones({9, 1, 2, 2}, at::kDouble), normal_source(0)), "most samples are the same");
  EXPECT_EQ(why(draws(9, 2), {.score = [](const Tensor& x) { return x / 0; }}),
            "the posterior's score is not finite at every sample");
}

}  // namespace
}  // namespace penumbra::app
