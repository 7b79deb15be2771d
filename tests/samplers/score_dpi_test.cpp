/// sampler.kind: score-dpi: a step is Adam's on the objective, the state is whole, and on a Gaussian problem, where
/// the posterior is itself a flow, the draws have its law.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "core/named.h"
#include "likelihoods/gaussian.h"
#include "models/dense.h"
#include "networks/realnvp.h"
#include "priors/gaussian_mixture.h"
#include "run/chain_run.h"
#include "samplers/score_bound.h"
#include "support/message.h"
#include "support/numbers.h"
#include "support/paths.h"

namespace penumbra {
namespace {

using test::contains;
using test::message_of;
using test::numbers;

constexpr uint64_t seed = 21;
constexpr int64_t n = 4;
const Shape square{1, 2, 2};

struct ScoreDpiTest : testing::Test {
  Tensor A = numbers(14, {2, n}, 1), y = numbers(14, {2}, 2), mu = numbers(14, {n}, 3),
         factor = 0.5 * numbers(14, {n, n}, 4);
  double beta = 0.5;
  Tensor Sigma = factor.matmul(factor.t()) + 0.1 * at::eye(n, factor.options());
  std::shared_ptr<const GaussianMixture> prior =
      std::make_shared<GaussianMixture>(square, std::vector{Component{1, mu, Covariance::full(Sigma)}});
  Posterior posterior{std::make_shared<GaussianLikelihood>(std::make_shared<DenseModel>(square, A), y, beta), prior};

  std::unique_ptr<Sampler> sampler(const std::string& options, int64_t steps) const {
    auto settings = Settings::from_text(options, "test.yaml");
    auto made = find_named(sampler_entries(), "score-dpi")->make(settings, {posterior, seed, steps});
    settings.finish();
    return made;
  }
  std::string refusal(const std::string& options) const {
    return message_of([&] { sampler(options, 10); });
  }
  static ChainState start(int64_t chains) { return {at::zeros({chains, 1, 2, 2}, at::kDouble)}; }
};

constexpr auto small =
    "{sigma_min: 0.02, sigma_max: 20, scale: 0.7, batch: 6, levels: 3, flow: {layers: 4, width: 8}, "
    "optimiser: {learning_rate: 0.01, warm_up: 0, final_share: 1}}";

TEST_F(ScoreDpiTest, AStepIsAdamsOnTheObjective) {
  const auto made = sampler(small, 100);
  auto state = start(3);
  // The second step, so that Adam's moments and the flow have left their start.
  made->step(state);
  const auto before = state.shared.clone();
  const auto info = made->step(state);
  EXPECT_EQ(state.k, 2);

  const RealNvp flow({.dimension = n, .layers = 4, .width = 8, .seed = seed});
  const auto p = flow.parameter_count();
  ASSERT_EQ(before.numel(), 3 * p + n);
  EXPECT_EQ(made->shared_count(16), 3 * p + n);
  const ScoreBound bound(prior, {.sigma_min = 0.02, .sigma_max = 20, .levels = 3});
  const auto m = bound.prior_mean({at::kDouble, at::kCPU});
  const auto z = normal({seed, 0, 1}, Stream::langevin, at::empty({6, n}, at::kDouble));
  const auto objective = [&](const Tensor& values) {
    const auto [u, log_det] = flow.forward(values, z);
    const auto x = (m.flatten() + 0.7 * u).view({6, 1, 2, 2});
    const auto misfit = (flat(x).matmul(A.t()) - y).square().sum(1) / (2 * beta * beta);
    const double log_base = -0.5 * n * std::log(2 * M_PI * M_E) - n * std::log(0.7);
    return (misfit + bound(x, m, {seed, 0, 1}).value - log_det).mean().item<double>() + log_base;
  };
  const auto values = before.narrow(0, 0, p), mean = before.narrow(0, p, p), square = before.narrow(0, 2 * p, p);
  EXPECT_NEAR(info.objective, objective(values), 1e-10 * std::abs(info.objective));

  // What Adam's first moment took in is the objective's gradient: against differences along random directions.
  const auto gradient = (state.shared.narrow(0, p, p) - 0.9 * mean) / 0.1;
  for (int64_t k = 0; k < 4; ++k) {
    const auto direction = numbers(14, {p}, 20 + k);
    const double h = 1e-6, slope = (objective(values + h * direction) - objective(values - h * direction)) / (2 * h);
    EXPECT_NEAR(slope, gradient.dot(direction).item<double>(), 1e-6 * gradient.norm().item<double>() * std::sqrt(p));
  }
  const auto next_mean = 0.9 * mean + 0.1 * gradient, next_square = 0.99 * square + 0.01 * gradient.square();
  const auto moved = values - 0.01 * (next_mean / (1 - 0.9 * 0.9)) / ((next_square / (1 - 0.99 * 0.99)).sqrt() + 1e-8);
  EXPECT_LT(test::relative_error(state.shared.narrow(0, 0, p), moved), 1e-10);

  const auto base = normal({seed, 0, 0}, Stream::start, at::empty({3, n}, at::kDouble));
  const auto drawn = m.flatten() + 0.7 * flow.forward(state.shared.narrow(0, 0, p), base).x;
  EXPECT_LT(test::relative_error(flat(state.x), drawn), 1e-12);
}

TEST_F(ScoreDpiTest, OnAGaussianProblemTheDrawsHaveThePosteriorsLaw) {
  const auto made = sampler(
      "{sigma_min: 0.01, sigma_max: 30, scale: 0.5, batch: 128, levels: 16, flow: {layers: 8, width: 16}, "
      "optimiser: {learning_rate: 0.01, warm_up: 50}}",
      1500);
  auto state = start(20000);
  // Draws are only wanted at the end: one image until then.
  auto training = start(1);
  c10::NoGradGuard no_gradients;
  std::vector<double> objective;
  while (training.k < 1499) objective.push_back(made->step(training).objective);
  state.k = training.k;
  state.shared = training.shared;
  made->step(state);

  const auto exact = condition(*prior, A, y, beta);
  const auto mean = exact.posterior->mean(), covariance = exact.posterior->dense_covariance();
  const auto x = flat(state.x), centred = x - x.mean(0);
  // In units in which the posterior is N(0, I). 20,000 draws know their mean to 0.007 and covariance to 0.01; what is
  // left is Adam's: gradients of 128 draws at a rate that falls to zero.
  const auto whiten = at::linalg_inv(at::linalg_cholesky(covariance));
  const auto mean_error = whiten.mv(x.mean(0) - mean);
  const auto found = whiten.mm(centred.t().mm(centred) / 19999.0).mm(whiten.t());
  EXPECT_LT(mean_error.abs().max().item<double>(), 0.06);
  EXPECT_LT((found - at::eye(n, found.options())).abs().max().item<double>(), 0.1);
  // The prior is another law by far.
  EXPECT_GT((whiten.mm(Sigma).mm(whiten.t()) - at::eye(n, found.options())).abs().max().item<double>(), 1);
  // The least that the objective can be is -log evidence, but for the normalisation that g leaves out.
  const double floor = -exact.log_evidence - std::log(2 * M_PI * beta * beta);
  const auto course = at::tensor(objective, at::kDouble), last = course.narrow(0, 1199, 300);
  const double error = last.std().item<double>() / std::sqrt(300.0);
  EXPECT_LT(error, 0.2);
  EXPECT_NEAR(last.mean().item<double>(), floor, 4 * error);
  EXPECT_GT(course.narrow(0, 0, 10).mean().item<double>(), floor + 3);
}

TEST_F(ScoreDpiTest, ARunThatIsContinuedIsTheSame) {
  const RunPlan plan{.steps = 12, .chains = 5, .record_from = 11, .checkpoint_every_steps = 1};
  const auto made = sampler(small, 12);
  const auto folder = test::scratch();
  ChainRun whole(plan, posterior, *made, start(5));
  ASSERT_EQ(whole.run(), Outcome::finished);

  auto half = plan;
  half.steps = 7;
  ChainRun first(half, posterior, *made, start(5), folder);
  ASSERT_EQ(first.run(), Outcome::finished);
  ChainRun second(plan, posterior, *made, start(5), folder);
  ASSERT_TRUE(second.resume());
  EXPECT_EQ(second.state().k, 7);
  ASSERT_EQ(second.run(), Outcome::finished);
  EXPECT_TRUE(at::equal(second.state().x, whole.state().x));
  EXPECT_TRUE(at::equal(second.state().shared, whole.state().shared));
  ASSERT_EQ(second.trace().rows().size(), 12u);
  for (size_t k = 0; k < 12; ++k) EXPECT_EQ(second.trace().rows()[k].objective, whole.trace().rows()[k].objective);

  // Another flow does not fit what the checkpoint holds.
  const auto other = sampler("{sigma_min: 0.02, sigma_max: 20, scale: 0.7, flow: {layers: 2, width: 8}}", 12);
  ChainRun third(plan, posterior, *other, start(5), folder);
  EXPECT_TRUE(contains(message_of([&] { third.resume(); }), "shared: expected"));
}

TEST_F(ScoreDpiTest, BatchesOfChainsDoNotChangeIt) {
  const auto made = sampler(small, 6);
  RunPlan plan{.steps = 6, .chains = 5};
  ChainRun together(plan, posterior, *made, start(5));
  plan.batch = 2;
  ChainRun apart(plan, posterior, *made, start(5));
  together.run();
  apart.run();
  EXPECT_TRUE(at::equal(apart.state().x, together.state().x));
  // A chain is the same in another company, to rounding.
  auto alone = start(1);
  alone.first_chain = 3;
  while (alone.k < 6) made->step(alone);
  EXPECT_LT(test::relative_error(alone.x[0], together.state().x[3]), 1e-12);
}

TEST_F(ScoreDpiTest, WhatDoesNotFitIsRefused) {
  EXPECT_EQ(refusal("{sigma_min: 0.1, sigma_max: 2, scale: 1}"), "");
  EXPECT_TRUE(contains(refusal("{sigma_min: 2, sigma_max: 2, scale: 1}"), "sigma_min: expected less than sigma_max"));
  EXPECT_TRUE(contains(refusal("{sigma_min: 0.1, sigma_max: 2, scale: 0}"), "scale"));
  EXPECT_TRUE(contains(refusal("{sigma_min: 0.1, sigma_max: 2, scale: 1, batch: 4, levels: 5}"), "levels"));
  EXPECT_TRUE(contains(refusal("{sigma_min: 0.1, sigma_max: 2, scale: 1, flow: {layers: 0}}"), "layers"));
}

}  // namespace
}  // namespace penumbra
