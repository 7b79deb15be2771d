/// The step's bias along one direction against the exact law of a Gaussian problem.
#include "theory/step_bias.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "likelihoods/gaussian.h"
#include "models/dense.h"
#include "priors/gaussian_mixture.h"
#include "theory/extrapolation.h"
#include "theory/gaussian_law.h"
#include "theory/lipschitz.h"

namespace penumbra::theory {
namespace {

constexpr double sigma = 0.3, alpha = 1.5, beta2 = 0.25;

/// Data and prior with common axes, so that every axis is a problem of its own.
const auto A = at::diag(at::tensor({1.0, 0.4, 0.0}, at::kDouble));
const auto y = at::tensor({2.0, -1.0, 0.0}, at::kDouble);
const auto mu = at::tensor({-1.0, 0.5, 0.2}, at::kDouble);
const auto Sigma = at::diag(at::tensor({0.8, 0.05, 0.3}, at::kDouble));

class StepBiasLaw : public testing::TestWithParam<std::tuple<Discretization, double>> {};

TEST_P(StepBiasLaw, IsThatOfTheStationaryLaw) {
  const auto [discretization, gamma] = GetParam();
  const LinearGaussian problem({A, y, beta2, mu, Sigma});
  const auto law = problem.stationary({.gamma = gamma, .annealing = {sigma, alpha}, .discretization = discretization});
  ASSERT_TRUE(law);
  const auto grad_g = problem.H().mv(law->mean) - problem.b();
  const auto P = alpha * problem.prior_precision(sigma);
  const auto unbiased = at::linalg_solve(problem.H() + P, problem.b() + P.mv(mu));
  for (int64_t i = 0; i < 3; ++i) {
    const Curvature along{problem.H()[i][i].item<double>(), P[i][i].item<double>() / alpha, grad_g[i].item<double>()};
    const auto bias = step_bias(along, {gamma, alpha, discretization});
    ASSERT_TRUE(bias) << i;
    const double lambda = along.likelihood + alpha * along.prior;
    EXPECT_NEAR(1 + bias->excess, lambda * law->covariance[i][i].item<double>(), 1e-10) << i;
    EXPECT_NEAR(bias->mean_shift, (law->mean - unbiased)[i].item<double>() * std::sqrt(lambda), 1e-10) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Both, StepBiasLaw,
                         testing::Combine(testing::Values(Discretization::red, Discretization::pnp),
                                          testing::Values(0.01, 0.05, 0.1)));

TEST(StepBias, TheHalvingStepHalvesTheExcess) {
  for (const auto discretization : {Discretization::red, Discretization::pnp}) {
    const Curvature along{4, 10, 1};
    const StepRule rule{0.06, 1, discretization};
    const double smaller = halving_step(along, rule);
    const auto before = step_bias(along, rule), after = step_bias(along, {smaller, 1, discretization});
    ASSERT_TRUE(before && after);
    EXPECT_NEAR(after->excess / before->excess, 0.5, 1e-9);
    EXPECT_LT(smaller, rule.gamma);
  }
}

TEST(StepBias, ThereIsNoneOfAnUnstableStepOrBetweenModes) {
  EXPECT_FALSE(step_bias({4, 10, 0}, {2.0 / 14, 1, Discretization::red}));
  EXPECT_TRUE(step_bias({4, 10, 0}, {2.0 / 14, 1, Discretization::pnp})) << "PnP tolerates more";
  EXPECT_FALSE(step_bias({1, -2, 0}, {0.01, 1, Discretization::red}));
  EXPECT_EQ(halving_step({1, -2, 0}, {0.01, 1, Discretization::red}), 0);
}

/// In the law itself, without sampling error.
TEST(Extrapolation, LeavesTheSquareOfTheStep) {
  const LinearGaussian problem({A, y, beta2, mu, Sigma});
  const auto P = problem.prior_precision(sigma);
  const auto exact_variance = at::linalg_inv(problem.H() + P).diagonal();
  const auto exact_mean = at::linalg_solve(problem.H() + P, problem.b() + P.mv(mu));
  for (const auto discretization : {Discretization::red, Discretization::pnp}) {
    const auto errors = [&](double gamma) {
      const auto moments = [&](double step) {
        const auto law =
            *problem.stationary({.gamma = step, .annealing = {sigma, 1}, .discretization = discretization});
        return Moments{law.mean, law.covariance.diagonal().sqrt()};
      };
      const auto at_gamma = moments(gamma);
      const auto [better, unusable] = extrapolate(at_gamma, moments(gamma / 2));
      EXPECT_FALSE(unusable.any().item<bool>());
      const auto largest = [](const Tensor& x) { return x.abs().max().item<double>(); };
      return std::array{largest(at_gamma.sd.square() / exact_variance - 1),
                        largest(better.sd.square() / exact_variance - 1), largest(at_gamma.mean - exact_mean),
                        largest(better.mean - exact_mean)};
    };
    const auto coarse = errors(0.02), fine = errors(0.01);
    // The plain error falls with the step, the extrapolated one with its square; what is next changes that by 15 %.
    EXPECT_NEAR(coarse[0] / fine[0], 2, 0.3);
    EXPECT_NEAR(coarse[1] / fine[1], 4, 0.6);
    EXPECT_LT(coarse[1], 0.15 * coarse[0]);
    if (discretization == Discretization::red) continue;  // whose mean has no bias
    EXPECT_NEAR(coarse[2] / fine[2], 2, 0.3);
    EXPECT_NEAR(coarse[3] / fine[3], 4, 0.6);
  }
}

TEST(Extrapolation, KeepsTheSmallerStepsSdWhereTheVarianceWouldBeNegative) {
  const auto sd = [](double a, double b) { return at::tensor({a, b, 0.0}, at::kDouble); };
  const auto zero = at::zeros({3}, at::kDouble);
  const auto [better, unusable] = extrapolate({zero, sd(2, 1)}, {zero, sd(1, 1)});
  EXPECT_TRUE(better.sd.equal(sd(1, 1)));
  EXPECT_TRUE(unusable[0].item<bool>());
  EXPECT_EQ(unusable.sum().item<int64_t>(), 1);
}

TEST(StepBias, CurvaturesAreFoundWithoutTheFormulas) {
  const Shape shape{1, 1, 3};
  const GaussianLikelihood likelihood(std::make_shared<DenseModel>(shape, A), y, std::sqrt(beta2));
  const GaussianMixture prior(shape, {{1, mu, Covariance::full(Sigma)}});
  const auto x = at::ones({2, 1, 1, 3}, at::kDouble);
  const auto v = stiffest_direction(likelihood, x);
  // Curvatures 4 and 0.64: the ratio's power of 200 iterations is nothing. Differences of linear maps leave rounding,
  // 1e-16 over a step of 1e-5.
  EXPECT_NEAR(v.abs().select(-1, 0).min().item<double>(), 1, 1e-9);
  const auto h = curvature_along([&](const Tensor& at) { return likelihood.grad(at); }, x, v);
  const auto p = curvature_along([&](const Tensor& at) { return prior.score(at, sigma); }, x, v);
  EXPECT_NEAR(h[1].item<double>(), 1 / beta2, 1e-8);
  EXPECT_NEAR(-p[0].item<double>(), 1 / (0.8 + sigma * sigma), 1e-8);
}

}  // namespace
}  // namespace penumbra::theory
