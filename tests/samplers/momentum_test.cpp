/// `momentum` of apmc-*: the step against its formula, the law of its iterates against the exact one of an
/// autoregression, and the course of their mean.
#include <ATen/ATen.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>

#include "core/named.h"
#include "likelihoods/gaussian.h"
#include "models/dense.h"
#include "priors/gaussian_mixture.h"
#include "run/chain_run.h"
#include "samplers/sampler.h"
#include "support/message.h"
#include "support/numbers.h"
#include "support/paths.h"
#include "theory/step_bias.h"

namespace penumbra {
namespace {

constexpr uint64_t momentum_seed = 17;

/// Data and prior with common axes, so that every axis is a problem of its own.
struct Axes {
  static constexpr double sigma = 0.3, beta2 = 0.25;
  Shape shape{1, 1, 3};
  Tensor singular = at::tensor({1.0, 0.4, 0.0}, at::kDouble), y = at::tensor({2.0, -1.0, 0.0}, at::kDouble);
  Tensor mu = at::tensor({-1.0, 0.5, 0.2}, at::kDouble), variance = at::tensor({0.8, 0.05, 0.3}, at::kDouble);
  Posterior posterior{
      std::make_shared<GaussianLikelihood>(std::make_shared<DenseModel>(shape, at::diag(singular)), y,
                                           std::sqrt(beta2)),
      std::make_shared<GaussianMixture>(shape, std::vector{Component{1, mu, Covariance::diagonal(variance)}})};

  Tensor h() const { return singular.square() / beta2; }
  Tensor p() const { return 1 / (variance + sigma * sigma); }
  Tensor optimum() const { return (singular * y / beta2 + p() * mu) / (h() + p()); }
};

std::unique_ptr<Sampler> with_momentum(const Posterior& posterior, const std::string& kind, double gamma,
                                       double momentum,
                                       const std::string& schedule = fmt::format("{{kind: constant, sigma: {}}}",
                                                                                 Axes::sigma)) {
  auto settings =
      Settings::from_text(fmt::format("{{step_size: {}, momentum: {}, schedule: {}}}", gamma, momentum, schedule), "t");
  auto made = find_named(sampler_entries(), kind)->make(settings, {posterior, momentum_seed, 1000});
  settings.finish();
  return made;
}

TEST(Momentum, AStepRepeatsItsShareOfTheLastOne) {
  const Axes axes;
  const double gamma = 0.03, level = 3 * std::pow(0.9, 11), alpha = 2 * level * level, mu = 0.7;
  const auto x = test::numbers(5, {4, 1, 1, 3}, 6), velocity = test::numbers(5, {4, 1, 1, 3}, 7);
  for (const bool warm : {false, true}) {
    const auto sampler = with_momentum(
        axes.posterior, "apmc-red", gamma, mu,
        fmt::format("{{sigma_0: 3, sigma_min: 0.1, xi: 0.9, alpha_0: 2}}, noise: {}", warm ? "warm" : "paper"));
    ChainState state{x, 11, 2};
    state.velocity = velocity;
    sampler->step(state);
    const double unit = std::sqrt(gamma * (warm ? alpha : 1));
    const auto drift = axes.posterior.likelihood->grad(x) - alpha * axes.posterior.prior->score(x, level);
    const auto z = normal({momentum_seed, 2, 11}, Stream::langevin, x);
    const auto expected = x - gamma * drift + std::sqrt(2 * (1 - mu)) * unit * z + mu * unit * velocity;
    EXPECT_LT(test::relative_error(state.x, expected), 1e-12);
    EXPECT_LT(test::relative_error(state.velocity, (expected - x) / unit), 1e-12);
    EXPECT_FALSE(sampler->is_the_papers());
  }
}

/// Many chains from one point: their mean follows the recursion m'' = (M + mu) m' - mu m, and their variances settle
/// where theory/step_bias.h says.
class MomentumLaw : public testing::TestWithParam<std::tuple<const char*, double>> {};

TEST_P(MomentumLaw, IsThatOfTheAutoregression) {
  const auto [kind, momentum] = GetParam();
  const Axes axes;
  constexpr double gamma = 0.09;
  constexpr int64_t chains = 20000, early = 12, late = 300;
  const auto sampler = with_momentum(axes.posterior, kind, gamma, momentum);
  const bool pnp = find_named(sampler_entries(), kind)->discretization == Discretization::pnp;
  const auto h = axes.h(), p = axes.p();
  const auto M = pnp ? (1 - gamma * h) * (1 - gamma * p) : 1 - gamma * (h + p);

  ChainState state{at::full({chains, 1, 1, 3}, 4.0, at::kDouble)};
  // The stationary mean of PnP is shifted: where one step without noise stays.
  const auto rest = [&] {
    auto at_rest = axes.optimum();
    if (pnp) {
      const auto b = axes.singular * axes.y / Axes::beta2;
      at_rest = (b + p * axes.mu - gamma * p * b) / (h + p - gamma * p * h);
    }
    return at_rest;
  }();
  auto before = 4.0 - rest, now = before;  // at rest: the first step has no velocity
  for (int64_t k = 0; k < early; ++k) {
    sampler->step(state);
    const auto next = (M + momentum) * now - momentum * before;
    before = now;
    now = next;
  }
  // Variances stay below 0.6, so that a mean is known to 0.0055; four of those.
  EXPECT_LT((state.x.mean(0).flatten() - rest - now).abs().max().item<double>(), 0.022) << now;
  while (state.k < late) sampler->step(state);
  const auto variance = state.x.var(0, /*unbiased=*/true).flatten();
  for (int64_t i = 0; i < 3; ++i) {
    const theory::Curvature along{h[i].item<double>(), p[i].item<double>(), 0};
    const double lambda = along.likelihood + along.prior;
    const auto bias = theory::step_bias(along, {gamma, 1, pnp ? Discretization::pnp : Discretization::red, momentum});
    ASSERT_TRUE(bias);
    // Of 20000 chains a variance is known to 1 %; four of those.
    EXPECT_NEAR(variance[i].item<double>() * lambda, 1 + bias->excess, 0.04 * (1 + bias->excess)) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Both, MomentumLaw,
                         testing::Combine(testing::Values("apmc-red", "apmc-pnp"), testing::Values(0.0, 0.6, 0.9)));

/// What it is for: a direction that a step's gamma lambda is small for forgets its start in fewer steps.
TEST(Momentum, SoftDirectionsForgetSooner) {
  const Axes axes;
  constexpr int64_t chains = 4000, steps = 150;
  const auto remains = [&](double momentum) {
    const auto sampler = with_momentum(axes.posterior, "apmc-red", 0.003, momentum);
    ChainState state{at::full({chains, 1, 1, 3}, 20.0, at::kDouble)};
    while (state.k < steps) sampler->step(state);
    return (state.x.mean(0).flatten() - axes.optimum())[2].item<double>() / 20;
  };
  // gamma lambda = 0.0077: 0.31 without, about 0.31^(1/(1 - mu)) = 0.003 with. A mean of 4000 is known to 0.0006.
  EXPECT_NEAR(remains(0), std::pow(1 - 0.003 / 0.39, steps), 0.01);
  EXPECT_LT(std::abs(remains(0.8)), 0.02);
}

TEST(Momentum, ChainsInPartsAreTheChainsTogether) {
  const Axes axes;
  const auto sampler = with_momentum(axes.posterior, "apmc-pnp", 0.05, 0.8);
  const auto after = [&](int64_t batch) {
    RunPlan plan;
    plan.chains = 5;
    plan.steps = 20;
    plan.record_from = 10;
    plan.batch = batch;
    ChainRun run(plan, axes.posterior, *sampler, {test::numbers(5, {5, 1, 1, 3}, 8)});
    EXPECT_EQ(run.run(), Outcome::finished);
    return run.state();
  };
  const auto whole = after(0), parts = after(2);
  EXPECT_LT(test::relative_error(parts.x, whole.x), 1e-12);
  EXPECT_LT(test::relative_error(parts.velocity, whole.velocity), 1e-12);
}

TEST(Momentum, IsAShareBelowOne) {
  const Axes axes;
  for (const double share : {-0.1, 1.0})
    EXPECT_NE(
        test::message_of<InputError>([&] { with_momentum(axes.posterior, "apmc-red", 0.01, share); }).find("momentum"),
        std::string::npos);
}

}  // namespace
}  // namespace penumbra
