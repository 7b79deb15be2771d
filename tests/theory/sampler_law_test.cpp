/// The real samplers against the exact law of their iterates: every step, and the moments of many chains.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "likelihoods/gaussian.h"
#include "models/dense.h"
#include "priors/gaussian_mixture.h"
#include "priors/inexact.h"
#include "samplers/pmc.h"
#include "support/paths.h"
#include "theory/vectors.h"

namespace penumbra::theory {
namespace {

using test::tensor;

constexpr int64_t chains = 8000;
constexpr uint64_t seed = 11;

const nlohmann::json& law_vectors() {
  static const auto all = test::vectors("gaussian_law.json");
  return all;
}

Posterior posterior() {
  const auto& all = law_vectors();
  const Shape shape{1, 1, 3};
  std::vector<Component> one{{1, tensor(all["mu"]), Covariance::full(tensor(all["Sigma"]))}};
  return {std::make_shared<GaussianLikelihood>(std::make_shared<DenseModel>(shape, tensor(all["A"])), tensor(all["y"]),
                                               std::sqrt(all["beta2"].get<double>())),
          std::make_shared<GaussianMixture>(shape, one)};
}

GaussianLaw start_law() { return {tensor(law_vectors()["m0"]), tensor(law_vectors()["C0"])}; }

ChainState start(const GaussianLaw& law, int64_t count = chains) {
  const auto z = normal({seed, 0, 0}, Stream::start, at::empty({count, 3}, at::kDouble));
  return {(law.mean + z.mm(at::linalg_cholesky(law.covariance).t())).reshape({count, 1, 1, 3})};
}

/// Mean and covariance of the chains within 4 standard errors of the law's.
void expect_law(const ChainState& state, const GaussianLaw& law, const std::string& where) {
  const auto x = flat(state.x);
  const auto N = static_cast<double>(x.size(0));
  const auto& C = law.covariance;
  const auto mean = x.mean(0), centred = x - mean;
  const auto variances = C.diagonal();
  const auto mean_error = (mean - law.mean) / (variances / N).sqrt();
  const auto error = (centred.t().mm(centred) / (N - 1) - C) / ((at::outer(variances, variances) + C * C) / N).sqrt();
  EXPECT_LT(mean_error.abs().max().item<double>(), 4) << where;
  EXPECT_LT(error.abs().max().item<double>(), 4) << where;
}

class SamplerLaw : public testing::TestWithParam<std::tuple<std::string, double>> {
 protected:
  const LinearGaussian problem{problem_of(law_vectors())};
  const LawStep step{.gamma = std::get<1>(GetParam()),
                     .annealing = {0.3, 1},
                     .discretization = discretization_of(std::get<0>(GetParam()))};

  Pmc sampler(const Posterior& target) const {
    return {target, seed, {.discretization = step.discretization, .gamma = step.gamma, .sigma = 0.3}};
  }
};

TEST_P(SamplerLaw, StepIsTheAffineMapPlusItsNoise) {
  const auto pmc = sampler(posterior());
  const auto map = problem.map(step);
  auto state = start(start_law(), 5);
  for (int64_t k = 0; k < 3; ++k) {
    const auto z = flat(normal({seed, 0, k}, Stream::langevin, state.x));
    const auto expected = flat(state.x).mm(map.M.t()) + map.c + std::sqrt(map.q) * z;
    pmc.step(state);
    EXPECT_LT(test::relative_error(flat(state.x), expected), 1e-12);
  }
}

TEST_P(SamplerLaw, MomentsAtIterations1_10_100) {
  const auto pmc = sampler(posterior());
  const auto map = problem.map(step);
  auto law = start_law();
  auto state = start(law);
  for (int64_t k = 1; k <= 100; ++k) {
    pmc.step(state);
    law = propagate(law, map);
    if (k == 1 || k == 10 || k == 100) expect_law(state, law, "iteration " + std::to_string(k));
  }
}

TEST_P(SamplerLaw, TheStationaryLawStays) {
  const auto pmc = sampler(posterior());
  const auto law = problem.stationary(step).value();
  auto state = start(law);
  for (int64_t k = 1; k <= 20; ++k) pmc.step(state);
  expect_law(state, law, "stationarity");
}

TEST_P(SamplerLaw, FreshScoreErrorIsExtraTemperature) {
  auto noisy = posterior();
  const double eps = 2;
  noisy.prior = std::make_shared<InexactScore>(noisy.prior, eps);
  const auto pmc = sampler(noisy);
  auto hot = step;
  hot.score_noise = eps * eps * 3 / 5;  // uniform in the ball of R^n: eps^2 n / (n + 2)
  const auto map = problem.map(hot);
  auto law = start_law();
  auto state = start(law);
  for (int64_t k = 1; k <= 30; ++k) {
    pmc.step(state);
    law = propagate(law, map);
  }
  expect_law(state, law, "iteration 30");
}

INSTANTIATE_TEST_SUITE_P(Steps, SamplerLaw,
                         testing::Combine(testing::Values("red", "pnp"), testing::Values(0.05, 0.1, 0.3)),
                         [](const auto& info) {
                           return std::get<0>(info.param) + "_" +
                                  std::to_string(static_cast<int>(100 * std::get<1>(info.param)));
                         });

class AnnealedSamplerLaw : public testing::TestWithParam<std::string> {};

TEST_P(AnnealedSamplerLaw, MomentsAtIterations1_5_20_60) {
  const auto& expected = law_vectors()[GetParam()]["annealed"];
  const GeometricSchedule::Options options{.sigma_0 = expected["sigma0"],
                                           .sigma_min = expected["sigma_min"],
                                           .xi = expected["xi"],
                                           .alpha_0 = expected["alpha0"]};
  const AnnealedPmc apmc(posterior(), seed,
                         {.discretization = discretization_of(GetParam()),
                          .gamma = law_vectors()["gamma"],
                          .schedule = std::make_shared<GeometricSchedule>(options)});
  auto state = start(start_law());
  for (int64_t k = 1; k <= 60; ++k) {
    apmc.step(state);
    const auto key = std::to_string(k);
    if (expected["law"].contains(key))
      expect_law(state, {tensor(expected["law"][key]["mean"]), tensor(expected["law"][key]["cov"])}, key);
  }
}

INSTANTIATE_TEST_SUITE_P(Both, AnnealedSamplerLaw, testing::Values("red", "pnp"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace penumbra::theory
