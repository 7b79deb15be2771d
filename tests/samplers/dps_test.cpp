/// Diffusion posterior sampling on a Gaussian prior, whose denoiser is affine: D(x) = mu + K (x - mu), K symmetric.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "core/named.h"
#include "likelihoods/gaussian.h"
#include "models/dense.h"
#include "priors/gaussian_mixture.h"
#include "samplers/heun.h"
#include "samplers/sampler.h"
#include "support/message.h"
#include "support/numbers.h"
#include "support/paths.h"

namespace penumbra {
namespace {

using test::numbers;

constexpr uint64_t dps_seed = 17;

struct DpsTest : testing::Test {
  const Shape shape{1, 2, 2};
  const Tensor factor = numbers(6, {4, 4}, 1), mu = numbers(6, {4}, 2), A = numbers(6, {3, 4}, 3),
               y = numbers(6, {3}, 4);
  const Tensor Sigma = factor.matmul(factor.t()) + 0.3 * at::eye(4, factor.options());
  const double beta = 0.2;
  Posterior posterior{std::make_shared<GaussianLikelihood>(std::make_shared<DenseModel>(shape, A), y, beta),
                      std::make_shared<GaussianMixture>(shape, std::vector{Component{1, mu, Covariance::full(Sigma)}})};

  std::unique_ptr<Sampler> make(const std::string& options, int64_t steps) {
    auto settings = Settings::from_text(options, "test");
    auto sampler = find_named(sampler_entries(), "dps")->make(settings, {posterior, dps_seed, steps});
    settings.finish();
    return sampler;
  }
  /// |A|, as the likelihood knows it.
  double norm() const { return beta * std::sqrt(*posterior.likelihood->lipschitz()); }
  Tensor K(double sigma) { return Sigma.matmul(at::linalg_inv(Sigma + sigma * sigma * at::eye(4, Sigma.options()))); }
};

TEST_F(DpsTest, StepIsTheAncestralStepPulledTowardsTheData) {
  EXPECT_NEAR(norm() / at::linalg_matrix_norm(A, 2).item<double>(), 1, 1e-6);
  const auto sampler = make("{sigma_max: 5, sigma_min: 0.1, zeta: 0.7}", 6);
  const auto sigmas = rho_grid(6, 5, 0.1);
  for (const int64_t k : {0, 3, 5}) {
    const auto x = numbers(6, {3, 1, 2, 2}, 7);
    ChainState state{x, k, 2};
    const auto info = sampler->step(state);
    const double sigma = sigmas[k], next = sigmas[k + 1], s2 = next * next / (sigma * sigma);
    const auto z = flat(normal({dps_seed, 2, k}, Stream::langevin, x)), rows = flat(x);
    const auto x0 = mu + (rows - mu).matmul(K(sigma));
    const auto r = x0.matmul(A.t()) - y;
    const auto grad = r.matmul(A).matmul(K(sigma)) / r.norm(2, 1).unsqueeze(1);  // of |r| with respect to x
    const double c = std::sqrt((1 + sigma * sigma) * (1 + next * next));
    const auto expected = x0 + s2 * (rows - x0) + next * std::sqrt(1 - s2) * z - 0.7 / norm() * c * grad;
    EXPECT_LT(test::relative_error(flat(state.x), expected), 1e-12) << k;
    EXPECT_EQ(state.k, k + 1);
    EXPECT_EQ(info.sigma, sigma);
  }
  EXPECT_EQ(*sampler->start_sd(), 5);
}

TEST_F(DpsTest, IsTheAuthorsStepInTheirVariable) {
  // theirs = x / sqrt(1 + sigma^2), whose step ends with: minus zeta / |A| times the gradient with respect to it.
  const auto with = make("{sigma_max: 5, sigma_min: 0.1, zeta: 0.7}", 6),
             without = make("{sigma_max: 5, sigma_min: 0.1, zeta: 0}", 6);
  const auto sigmas = rho_grid(6, 5, 0.1);
  const auto root = [&](int64_t k) { return std::sqrt(1 + sigmas[k] * sigmas[k]); };
  const auto theirs = numbers(6, {3, 4}, 7);
  ChainState pulled{(theirs * root(2)).view({3, 1, 2, 2}), 2}, free{(theirs * root(2)).view({3, 1, 2, 2}), 2};
  with->step(pulled);
  without->step(free);
  const auto difference = flat(free.x - pulled.x) / root(3);
  const auto error = [&](const Tensor& u) {
    const auto x0 = mu + (u * root(2) - mu).matmul(K(sigmas[2]));
    return (x0.matmul(A.t()) - y).norm(2, 1);
  };
  const double h = 1e-6;
  for (int64_t j = 0; j < 4; ++j) {
    auto e = at::zeros({4}, theirs.options());
    e[j] = h;
    const auto slope = (error(theirs + e) - error(theirs - e)) / (2 * h);
    EXPECT_LT((difference.select(1, j) - 0.7 / norm() * slope).abs().max().item<double>(), 1e-7);
  }
}

TEST_F(DpsTest, DoesNotDependOnTheUnitsOfTheData) {
  const auto run = [&](double unit) {
    posterior.likelihood =
        std::make_shared<GaussianLikelihood>(std::make_shared<DenseModel>(shape, unit * A), unit * y, unit * beta);
    const auto sampler = make("{sigma_max: 5, sigma_min: 0.1}", 6);
    ChainState state{5 * numbers(6, {3, 1, 2, 2}, 7)};
    for (int k = 0; k < 6; ++k) sampler->step(state);
    return state.x;
  };
  const auto x = run(1);
  // Arithmetic alone: 1e-16 a step, and the norm of the pull where the error is small.
  for (const double unit : {1e3, 1e-6}) EXPECT_LT(test::relative_error(run(unit), x), 1e-9) << unit;
}

TEST_F(DpsTest, WithoutThePullTheLawIsThatOfTheClosedRecursion) {
  const int64_t chains = 20000, steps = 12;
  const auto sampler = make("{sigma_max: 20, sigma_min: 0.05, zeta: 0}", steps);
  const auto sigmas = rho_grid(steps, 20, 0.05);
  const auto I = at::eye(4, Sigma.options());
  ChainState state{20 * normal({dps_seed, 0, 0}, Stream::start, at::empty({chains, 1, 2, 2}, Sigma.options()))};
  Tensor mean = at::zeros({4}, Sigma.options()), C = 400 * I;
  for (int64_t k = 0; k < steps; ++k) {
    const double s2 = std::pow(sigmas[k + 1] / sigmas[k], 2);
    const auto M = (1 - s2) * K(sigmas[k]) + s2 * I;  // x0 + s^2 (x - x0) = M x + ...
    mean = M.matmul(mean - mu) + mu;
    C = M.matmul(C).matmul(M.t()) + sigmas[k + 1] * sigmas[k + 1] * (1 - s2) * I;
    sampler->step(state);
  }
  const auto x = flat(state.x), centred = x - x.mean(0);
  const auto variances = C.diagonal();
  // Four standard errors of 20,000 independent draws.
  const double N = chains;
  EXPECT_LT(((x.mean(0) - mean) / (variances / N).sqrt()).abs().max().item<double>(), 4);
  const auto error = centred.t().mm(centred) / (N - 1) - C;
  EXPECT_LT((error / ((at::outer(variances, variances) + C * C) / N).sqrt()).abs().max().item<double>(), 4);
}

TEST_F(DpsTest, ThePullBringsTheDataCloser) {
  const auto chi2 = [&](const std::string& zeta) {
    const auto sampler = make("{sigma_max: 20, sigma_min: 0.01, zeta: " + zeta + "}", 300);
    ChainState state{20 * normal({dps_seed, 0, 0}, Stream::start, at::empty({64, 1, 2, 2}, Sigma.options()))};
    for (int k = 0; k < 300; ++k) sampler->step(state);
    return posterior.likelihood->misfit(state.x)[0].chi2.mean().item<double>();
  };
  EXPECT_LT(chi2("0.15"), 0.05 * chi2("0"));
}

TEST_F(DpsTest, LevelsMustFall) {
  EXPECT_NE(test::message_of([&] { make("{sigma_max: 1, sigma_min: 2}", 5); }).find("sigma_min"), std::string::npos);
  EXPECT_NE(test::message_of([&] { make("{sigma_max: 1, sigma_min: 1}", 5); }).find("less than"), std::string::npos);
}

}  // namespace
}  // namespace penumbra
