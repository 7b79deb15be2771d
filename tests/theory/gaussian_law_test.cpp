#include "theory/gaussian_law.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "support/paths.h"
#include "theory/divergence.h"
#include "theory/vectors.h"

namespace penumbra::theory {
namespace {

using test::relative_error;
using test::tensor;

class GaussianLawVectors : public testing::TestWithParam<std::string> {
 protected:
  const nlohmann::json all = test::vectors("gaussian_law.json");
  const nlohmann::json expected = all[GetParam()];
  const LinearGaussian problem{problem_of(all)};
  const Discretization discretization = discretization_of(GetParam());
  const LawStep step{
      .gamma = all["gamma"], .annealing = {all["sigma"], all["alpha"]}, .discretization = discretization};
};

TEST_P(GaussianLawVectors, AffineMapAndRadius) {
  const auto map = problem.map(step);
  EXPECT_LT(relative_error(map.M, tensor(expected["M"])), 1e-10);
  EXPECT_LT(relative_error(map.c, tensor(expected["c"])), 1e-10);
  EXPECT_NEAR(spectral_radius(map.M), expected["spectral_radius"].get<double>(), 1e-10);
}

TEST_P(GaussianLawVectors, TrajectoryWithGivenNoise) {
  const auto z = tensor(all["z"]), path = tensor(expected["trajectory"]);
  const auto annealed_path = tensor(expected["annealed"]["trajectory"]);
  auto x = tensor(all["x0"]), annealed = x;
  for (int64_t k = 0; k < 3; ++k) {
    const auto map = problem.map(step), map_k = problem.map(annealed_step(expected["annealed"], step, k));
    x = map.M.mv(x) + map.c + std::sqrt(map.q) * z[k];
    annealed = map_k.M.mv(annealed) + map_k.c + std::sqrt(map_k.q) * z[k];
    EXPECT_LT(relative_error(x, path[k]), 1e-10);
    EXPECT_LT(relative_error(annealed, annealed_path[k]), 1e-10);
  }
}

TEST_P(GaussianLawVectors, LawAfterManySteps) {
  GaussianLaw law{tensor(all["m0"]), tensor(all["C0"])};
  for (int k = 1; k <= 100; ++k) {
    law = propagate(law, problem.map(step));
    const auto key = std::to_string(k);
    if (!expected["law"].contains(key)) continue;
    const auto& at_k = expected["law"][key];
    const double tolerance = k == 100 ? 1e-9 : 1e-10;
    EXPECT_LT(relative_error(law.mean, tensor(at_k["mean"])), tolerance);
    EXPECT_LT(relative_error(law.covariance, tensor(at_k["cov"])), tolerance);
    const auto divergence = gaussian_divergence(law, problem.posterior());
    EXPECT_NEAR(divergence.kl / at_k["KL"].get<double>(), 1, tolerance);
    EXPECT_NEAR(divergence.fisher_information / at_k["FI"].get<double>(), 1, tolerance);
  }
}

TEST_P(GaussianLawVectors, AnnealedLaw) {
  GaussianLaw law{tensor(all["m0"]), tensor(all["C0"])};
  for (int k = 1; k <= 60; ++k) {
    law = propagate(law, problem.map(annealed_step(expected["annealed"], step, k - 1)));
    const auto key = std::to_string(k);
    if (!expected["annealed"]["law"].contains(key)) continue;
    const auto& at_k = expected["annealed"]["law"][key];
    EXPECT_LT(relative_error(law.mean, tensor(at_k["mean"])), 1e-10);
    EXPECT_LT(relative_error(law.covariance, tensor(at_k["cov"])), 1e-10);
  }
}

TEST_P(GaussianLawVectors, StationaryLawAndItsDivergences) {
  const auto law = problem.stationary(step).value();
  EXPECT_LT(relative_error(law.mean, tensor(expected["stationary_mean"])), 1e-10);
  EXPECT_LT(relative_error(law.covariance, tensor(expected["stationary_cov"])), 1e-10);
  const auto divergence = gaussian_divergence(law, problem.posterior());
  EXPECT_NEAR(divergence.kl / expected["KL_stationary"].get<double>(), 1, 1e-10);
  EXPECT_NEAR(divergence.fisher_information / expected["FI_stationary"].get<double>(), 1, 1e-10);
}

TEST_P(GaussianLawVectors, FreshScoreErrorRaisesTheTemperature) {
  auto noisy = step;
  noisy.score_noise = 2;
  const auto law = problem.stationary(noisy).value();
  EXPECT_LT(relative_error(law.covariance, tensor(expected["stationary_cov_score_noise_E2=2"])), 1e-10);
  EXPECT_LT(relative_error(law.mean, tensor(expected["stationary_mean"])), 1e-10);
}

TEST_P(GaussianLawVectors, StepSizeSweep) {
  for (const auto& row : all["gamma_sweep"]) {
    auto other = step;
    other.gamma = row["gamma"];
    const auto law = problem.stationary(other).value();
    const auto divergence = gaussian_divergence(law, problem.posterior());
    const auto value = [&](const char* what) { return row[GetParam() + what].template get<double>(); };
    EXPECT_LT(relative_error(law.mean, tensor(row[GetParam() + "_mean"])), 1e-10);
    EXPECT_NEAR(law.covariance.trace().item<double>() / value("_cov_trace"), 1, 1e-10);
    EXPECT_NEAR(divergence.kl / value("_KL"), 1, 1e-9);
    EXPECT_NEAR(divergence.fisher_information / value("_FI"), 1, 1e-9);
  }
}

TEST_P(GaussianLawVectors, ConstantScoreErrorMovesTheFixedPointOnly) {
  auto biased = step;
  biased.score_bias = at::tensor({0.3, -0.1, 0.2}, at::kDouble);
  const auto law = problem.stationary(biased).value(), unbiased = problem.stationary(step).value();
  EXPECT_LT(relative_error(law.covariance, unbiased.covariance), 1e-14);
  const auto map = problem.map(biased);
  EXPECT_LT(relative_error(map.M.mv(law.mean) + map.c, law.mean), 1e-12);
  EXPECT_GT((law.mean - unbiased.mean).norm().item<double>(), 0.05);
}

TEST_P(GaussianLawVectors, InterpolationEndsInTheStepAndBeginsInTheIdentity) {
  const auto begin = problem.map(step, 0), end = problem.map(step, step.gamma), whole = problem.map(step);
  EXPECT_TRUE(begin.M.equal(at::eye(3, at::kDouble)));
  EXPECT_EQ(begin.q, 0);
  EXPECT_TRUE(end.M.equal(whole.M));
  EXPECT_EQ(end.q, whole.q);
}

INSTANTIATE_TEST_SUITE_P(Both, GaussianLawVectors, testing::Values("red", "pnp"),
                         [](const auto& info) { return info.param; });

TEST(GaussianLaw, PosteriorAndLipschitzConstants) {
  const auto all = test::vectors("gaussian_law.json");
  const LinearGaussian problem(problem_of(all));
  EXPECT_LT(relative_error(problem.posterior().mean, tensor(all["posterior_mean"])), 1e-12);
  EXPECT_LT(relative_error(problem.posterior().covariance, tensor(all["posterior_cov"])), 1e-12);
  EXPECT_NEAR(problem.likelihood_lipschitz() / all["L_g"].get<double>(), 1, 1e-12);
  EXPECT_NEAR(problem.score_lipschitz(0) / all["L_p"].get<double>(), 1, 1e-12);
  EXPECT_NEAR(problem.score_lipschitz(all["sigma"]) / all["L_sigma"].get<double>(), 1, 1e-12);
}

TEST(GaussianLaw, AnUnstableStepHasNoStationaryLaw) {
  const LinearGaussian problem(problem_of(test::vectors("gaussian_law.json")));
  const LawStep step{.gamma = 10, .annealing = {0.3, 1}};
  EXPECT_FALSE(problem.stationary(step).has_value());
}

}  // namespace
}  // namespace penumbra::theory
