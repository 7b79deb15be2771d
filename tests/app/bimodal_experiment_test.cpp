/// The bimodal experiment: both modes of the analytic problem, and how samples are sorted by their orientation.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "app/experiments/interferometry/bimodal.h"

namespace penumbra::app::interferometry {
namespace {

constexpr int64_t analytic_side = 32;

const AnalyticProblem& problem() {
  static const auto made = analytic_problem(analytic_side, 1);
  return made;
}

/// Nine stations, 100 snapshots: the numbers of the specification.
TEST(BimodalSetup, HasTheSpecifiedClosures) {
  const auto& observed = problem().sky.observed;
  EXPECT_EQ(observed.visibilities.size(), 938u);
  const auto closures = vlbi::form_closures(observed, problem().setup.closures);
  EXPECT_EQ(closures.phases.size(), 580u);
  EXPECT_EQ(closures.amplitudes.size(), 485u);
}

/// Turned by 180 degrees an image has the same closure amplitudes, and the prior the same density.
TEST(AnalyticProblem, AmplitudesAndPriorDoNotSeeTheTurn) {
  const Placement exact{at::kDouble, at::kCPU};
  const auto g = closure_likelihood(problem().sky, problem().setup, {0, 1}, exact);
  const auto x = problem().sky.truth.unsqueeze(0), turned = x.flip({-2, -1});
  EXPECT_NEAR(g->value(x).item<double>() / g->value(turned).item<double>(), 1, 1e-9);
  const auto both = problem().sky.likelihood;
  EXPECT_GT(both->value(turned).item<double>(), 10 * both->value(x).item<double>());
  const auto prior = problem().prior.mixture({1, analytic_side, analytic_side}, 1e-6, exact);
  for (const double sigma : {0.1, 3.0})
    EXPECT_NEAR(prior->log_density(x, sigma)->item<double>(), prior->log_density(turned, sigma)->item<double>(), 1e-6);
  EXPECT_NEAR(
      problem().prior.projection(problem().prior.turned.view({1, 1, analytic_side, analytic_side})).item<double>(), -1,
      1e-12);
}

TEST(AnalyticProblem, AnnealedChainsDivideEvenlyBetweenTheOrientations) {
  const auto found = anneal_amplitudes(problem(), {.chains = 100, .steps = 300});
  EXPECT_GT(found.p.abs().min().item<double>(), 0.3) << "a chain between the modes";
  EXPECT_NEAR(found.p.gt(0).to(at::kDouble).mean().item<double>(), 0.5, 3 * 0.5 / std::sqrt(100.0));
  EXPECT_NEAR(found.chi2.median().item<double>(), 1, 0.35);
}

TEST(AnalyticProblem, BothOptimaAreReached) {
  for (const auto from : {From::mean, From::turned}) {
    const auto found = optimum(problem(), from, 2000);
    EXPECT_LT(found.above, 0.1);
    EXPECT_GT(found.p * (from == From::mean ? 1 : -1), 0.3);
  }
}

TEST(Orientation, IsThatOfTheNearerOneWhereverTheSourceIs) {
  const auto truth = crescent(32, 1).unsqueeze(0), turned = truth.flip({-2, -1});
  const auto even = truth + turned;
  const auto leads =
      orientations(at::stack({truth.roll({2, -3}, {-2, -1}), turned.roll({-4, 1}, {-2, -1}), 5 * truth, even}), truth);
  EXPECT_GT(leads[0], undecided_below);
  EXPECT_NEAR(leads[0], -leads[1], 1e-9);
  EXPECT_NEAR(leads[0], leads[2], 1e-9);
  EXPECT_NEAR(leads[3], 0, 1e-9);
  const auto found = shares(leads);
  EXPECT_EQ(found.as_truth, 2);
  EXPECT_EQ(found.turned, 1);
  EXPECT_EQ(found.undecided, 1);
  EXPECT_NEAR(found.share, 2.0 / 3, 1e-12);
  EXPECT_NEAR(found.error, std::sqrt(2.0 / 27), 1e-12);
}

/// 100 samples: `first` as the truth and `second` turned fit, the others do not.
OrientationStudy study_with(int first, int second) {
  OrientationStudy s;
  s.method = "APMC-PnP";
  s.chi2_phase = at::full({100}, 1.0, at::kDouble);
  s.chi2_amplitude = at::full({100}, 2.0, at::kDouble);
  for (int i = 0; i < 100; ++i) {
    s.leads.push_back(i < 50 ? 0.5 : -0.5);
    if (i < first || (i >= 50 && i < 50 + second)) s.chi2_amplitude[i] = 1.29;
  }
  return s;
}

TEST(T3, AsksForFiveOfAHundredEitherWayThatFit) {
  EXPECT_TRUE(t3(study_with(5, 5)).passed);
  EXPECT_FALSE(t3(study_with(50, 4)).passed);
  EXPECT_FALSE(t3(study_with(4, 50)).passed);
  auto lost = study_with(50, 50);
  lost.diverged = true;
  EXPECT_FALSE(t3(lost).passed);
}

TEST(ExactChecks, HoldOrFailByTheNumbers) {
  BimodalResults r;
  r.annealed = {at::ones({100}, at::kDouble), at::ones({100}, at::kDouble)};
  r.annealed.p.narrow(0, 0, 40).fill_(-1);
  r.first = {.energy = 500, .above = 0.01, .chi2_phase = 1, .chi2_amplitude = 0.8, .p = 1};
  r.second = {.energy = 520, .above = 0.01, .chi2_phase = 1, .chi2_amplitude = 0.8, .p = -0.8};
  const auto passed = [](const BimodalResults& results) {
    std::string marks;
    for (const auto& check : exact_checks(results)) marks += check.passed ? '+' : '-';
    return marks;
  };
  EXPECT_EQ(passed(r), "++++");  // 0.6 is two standard errors from 1/2
  auto wrong = r;
  wrong.annealed.p = at::ones({100}, at::kDouble);
  EXPECT_EQ(passed(wrong), "-+++");
  wrong = r;
  wrong.second.p = 0.7;  // crossed over
  EXPECT_EQ(passed(wrong), "+++-");
  wrong = r;
  wrong.first.above = 0.2;
  wrong.second.chi2_phase = 1.4;
  EXPECT_EQ(passed(wrong), "++--");
}

}  // namespace
}  // namespace penumbra::app::interferometry
