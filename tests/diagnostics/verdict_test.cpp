#include "diagnostics/verdict.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "diagnostics/chains.h"

namespace penumbra::diagnostics {
namespace {

using test::autoregressive;
using test::independent;

Verdict find(const std::vector<Verdict>& list, const std::string& about) {
  for (const auto& verdict : list)
    if (verdict.about == about) return verdict;
  return {};
}

TEST(Assess, ChoosesTheStatisticThatTheDrawsAllow) {
  EXPECT_EQ(assess(independent({100, 16, 20})).rhat_kind, "split");
  EXPECT_EQ(assess(independent({8, 16, 20})).rhat_kind, "nested");
  EXPECT_EQ(assess(independent({8, 4, 20})).rhat_kind, "split");
  EXPECT_EQ(assess(independent({1, 16, 20})).rhat_kind, "nested");
  EXPECT_EQ(assess(independent({3, 4, 20})).rhat_kind, "none");
  const auto both = assess(independent({8, 16, 20}));
  EXPECT_TRUE(both.split_rhat_p95 && both.nested_rhat_p95 && both.drift);
}

// 25 independent Gaussian draws: 1 / sqrt(2 * 25) = 14.1 %, and (14.1 / 5)^2 * 25 = 200. The kurtosis is estimated,
// and the median of its square root lies a few percent low.
TEST(Assess, MonteCarloErrorIsThatOfTheEffectiveDraws) {
  const auto c = assess(independent({1, 25, 5000}));
  EXPECT_EQ(c.ess_median, 25);
  EXPECT_NEAR(c.mcse_mean_relative, 0.2, 1e-12);
  EXPECT_NEAR(c.mcse_sd_relative, 1 / std::sqrt(50.0), 0.012);
}

TEST(Assess, CountsPixelsThatDoNotMoveOrAreBrokenAndJudgesTheOthers) {
  auto draws = independent({8, 16, 20});
  const auto sound = assess(draws.narrow(2, 2, 18));
  draws.select(2, 0).fill_(0.1);
  draws[3][4][1] = std::nan("");
  const auto c = assess(draws);
  EXPECT_EQ(c.constant_pixels, 1);
  EXPECT_EQ(c.broken_pixels, 1);
  EXPECT_EQ(c.rhat_p95, sound.rhat_p95);
  EXPECT_EQ(c.ess_min, sound.ess_min);
  EXPECT_EQ(verdicts(c)[0].level, "bad");
}

/// Chains that differ far more than each of them moves.
TEST(Assess, AnnealedChainsThatStayAreSeparateDraws) {
  const auto places = independent({1, 8, 20});
  const auto c = assess(places + 0.1 * independent({100, 8, 20}));
  EXPECT_EQ(find(verdicts(c), "convergence").level, "bad");
  const auto annealed = find(verdicts(c, Chains::annealed), "convergence");
  EXPECT_EQ(annealed.level, "warning");
  EXPECT_NE(annealed.text.find("8 separate draws"), std::string::npos) << annealed.text;
}

TEST(Assess, SurvivesDrawsWithoutAnySpread) {
  const auto constant = verdicts(assess(at::ones({8, 16, 1, 2, 2})));
  ASSERT_EQ(constant.size(), 1u);
  EXPECT_EQ(constant[0].about, "pixels");
  EXPECT_EQ(find(verdicts(assess(independent({1, 1, 5}))), "sd").level, "bad");
  EXPECT_THROW(assess(at::zeros({0, 4, 1, 2, 2})), InputError);
}

TEST(Verdicts, AreGoodForManyIndependentDraws) {
  for (const auto& verdict : verdicts(assess(independent({100, 20, 100}))))
    EXPECT_EQ(verdict.level, "good") << verdict.text;
}

TEST(Verdicts, SayHowManyChainsAreEnough) {
  Convergence c = assess(independent({1, 25, 50}));
  c.mcse_sd_relative = 0.1414;
  const auto sd = find(verdicts(c), "sd");
  EXPECT_EQ(sd.level, "warning");
  EXPECT_EQ(sd.text, "the SD map has 14 % Monte-Carlo error; 25 chains are few: run at least 200 chains for 5 %");
}

TEST(Verdicts, AdviseOnTheMeanAsOnTheSd) {
  const auto mean = find(verdicts(assess(independent({1, 25, 50}))), "mean");
  EXPECT_EQ(
      mean.text,
      "the mean map's Monte-Carlo error is 20 % of the SD; 25 effective draws (least 25): run at least 100 chains "
      "for 10 %");
}

TEST(Verdicts, WarnOfChainsThatDisagree) {
  const auto apart = independent({200, 4, 20}) + 3 * at::arange(4, at::kDouble).reshape({1, 4, 1});
  EXPECT_EQ(find(verdicts(assess(apart)), "convergence").level, "bad");
}

TEST(Verdicts, OneRecordShowsNoConvergence) {
  EXPECT_EQ(find(verdicts(assess(independent({1, 100, 50}))), "convergence").level, "note");
}

TEST(Verdicts, WarnOfAnEnsembleThatStillMoves) {
  // Short chains that decay from a start ten SD away: exp(-t/4) t = 0..7.
  const auto decay = 10 * at::exp(-at::arange(8, at::kDouble) / 4).reshape({8, 1, 1});
  const auto list = verdicts(assess(autoregressive(0.78, {8, 64, 50}) + decay));
  EXPECT_EQ(find(list, "drift").level, "bad");
}

// A hundred healthy runs of many slow chains, all pixels sharing most of their motion: the verdicts on convergence
// must not cry wolf. At one in a hundred each, more than 6 of 100 happens less than once in ten thousand times.
TEST(Verdicts, SeldomAlarmForNothing) {
  int alarms = 0, drifts = 0;
  for (int run = 0; run < 100; ++run) {
    const auto common = autoregressive(0.95, {8, 25, 1}, 10 + run).expand({8, 25, 10});
    const auto list = verdicts(assess(common + 0.3 * independent({8, 25, 10}, 500 + run)));
    alarms += find(list, "convergence").level != "good";
    drifts += find(list, "drift").level != "good";
  }
  EXPECT_LE(alarms, 6);
  EXPECT_LE(drifts, 6);
}

// 200 data: SD 0.1, so three SD are 0.3.
TEST(MisfitVerdict, AllowsThreeStandardDeviations) {
  EXPECT_EQ(misfit_verdict("mri", 1.29, 200).level, "good");
  EXPECT_EQ(misfit_verdict("mri", 0.71, 200).level, "good");
  EXPECT_EQ(misfit_verdict("mri", 1.31, 200).level, "warning");
  EXPECT_EQ(misfit_verdict("mri", 0.69, 200).level, "warning");
  EXPECT_EQ(misfit_verdict("mri", 3, 200).level, "bad");
  EXPECT_EQ(misfit_verdict("mri", std::nan(""), 200).level, "bad");
  EXPECT_EQ(misfit_verdict("mri", 1.05, 1000000).level, "note");
  EXPECT_EQ(misfit_verdict("closure_phase", 1, 200).text.find("chi2 per datum of closure_phase is 1"), 0u);
  EXPECT_EQ(misfit_verdict("data", 1, 200).text.find("chi2 per datum is 1"), 0u);
  EXPECT_NE(misfit_verdict("mri", 0.69, 200).text.find("over-fits"), std::string::npos);
  EXPECT_NE(misfit_verdict("mri", 1.31, 200).text.find("not explained"), std::string::npos);
}

TEST(StepVerdict, ComparesWithTheLimits) {
  EXPECT_EQ(step_verdict(0.05, 1.0, 0.1).level, "good");
  EXPECT_EQ(step_verdict(0.05, 1.0, 0.01).level, "note");
  EXPECT_EQ(step_verdict(0.2, 1.0, {}).level, "note");
  EXPECT_EQ(step_verdict(0.5, 1.0, {}).level, "warning");
  EXPECT_EQ(step_verdict(1.0, 1.0, {}).level, "bad");
  EXPECT_EQ(step_verdict(std::nan(""), 1.0, {}).level, "bad");
  EXPECT_EQ(step_verdict(0.5, {}, {}).level, "note");
  // Half the limit: 1 / (1 - 0.5) = 2.
  EXPECT_NE(step_verdict(0.5, 1.0, {}).text.find("100 % too large"), std::string::npos);
  const auto measured = step_verdict(0.5, 1.0, {}, StepClause{0.08, "it inflates the variance by 8 %"});
  EXPECT_EQ(measured.level, "good") << "what was measured counts";
  EXPECT_EQ(measured.text, "step size 0.5 is 50 % of the stability limit; it inflates the variance by 8 %");
}

TEST(ConvergenceJson, HasNullForWhatDoesNotExist) {
  const auto json = nlohmann::json::parse(to_json(assess(independent({1, 4, 5}))).dump());
  EXPECT_EQ(json["chains"], 4);
  EXPECT_EQ(json["rhat"]["kind"], "none");
  EXPECT_TRUE(json["rhat"]["p95"].is_null());
  EXPECT_TRUE(json["drift"].is_null());
  EXPECT_EQ(json["ess"]["median"], 4);
}

}  // namespace
}  // namespace penumbra::diagnostics
