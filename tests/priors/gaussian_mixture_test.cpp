#include "priors/gaussian_mixture.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "priors/random_field.h"
#include "support/numbers.h"
#include "support/paths.h"

namespace penumbra {
namespace {

using test::numbers;
using test::relative_error;
using test::tensor;

GaussianMixture mixture_of(const nlohmann::json& w, const nlohmann::json& mu, const nlohmann::json& S) {
  std::vector<Component> components;
  for (size_t j = 0; j < w.size(); ++j)
    components.push_back({w[j].get<double>(), tensor(mu[j]), Covariance::full(tensor(S[j]))});
  return GaussianMixture({1, 1, components[0].mean.size(0)}, components);
}

TEST(GaussianMixture, AgreesWithTheVectorsFarAndNear) {
  const auto v = test::vectors("gmm_score.json");
  const auto mixture = mixture_of(v["w"], v["mu"], v["S"]);
  for (const auto& c : v["cases"]) {
    const auto x = tensor(c["x"]).reshape({1, 1, 1, 2});
    const double sigma = c["sigma"];
    SCOPED_TRACE(c.dump());
    EXPECT_NEAR(mixture.log_density(x, sigma)->item<double>(), c["logp"].get<double>(),
                1e-12 * std::abs(c["logp"].get<double>()) + 1e-13);
    EXPECT_LT(relative_error(mixture.score(x, sigma).flatten(), tensor(c["score"])), 1e-12);
    EXPECT_LT(relative_error(mixture.responsibilities(x, sigma).flatten(), tensor(c["resp"])), 1e-12);
    // At sigma = 0 the vectors hold the rounding of an exact zero; the denoiser is the identity there.
    if (sigma > 0)
      EXPECT_LT(relative_error(mixture.denoise(x, sigma).flatten(), tensor(c["denoiser"])), 1e-12);
    else
      EXPECT_TRUE(mixture.denoise(x, sigma).equal(x));
    const auto tweedie = x + sigma * sigma * mixture.score(x, sigma);
    EXPECT_LT(((tweedie - mixture.denoise(x, sigma)).abs().max() / x.abs().max().clamp_min(1)).item<double>(), 1e-7);
  }
}

TEST(GaussianMixture, ConditionsExactlyOnLinearData) {
  for (const auto& c : test::vectors("gmm_posterior.json")["cases"]) {
    const auto prior = mixture_of(c["w"], c["mu"], c["S"]);
    const auto [posterior, log_evidence] =
        condition(prior, tensor(c["A"]), tensor(c["y"]), std::sqrt(c["beta2"].get<double>()));
    EXPECT_NEAR(log_evidence, c["log_evidence"].get<double>(), 1e-11 * std::abs(log_evidence));
    for (size_t j = 0; j < c["w"].size(); ++j) {
      const auto& component = posterior->components()[j];
      EXPECT_NEAR(component.weight, c["post_w"][j].get<double>(), 1e-11);
      EXPECT_LT(relative_error(component.mean, tensor(c["post_mu"][j])), 1e-11);
      EXPECT_LT(relative_error(component.covariance->dense(), tensor(c["post_S"][j])), 1e-11);
    }
    EXPECT_LT(relative_error(posterior->mean(), tensor(c["mean"])), 1e-11);
    EXPECT_LT(relative_error(posterior->dense_covariance(), tensor(c["cov"])), 1e-11);
  }
}

TEST(Covariance, DiagonalAndLowRankAgreeWithTheFullMatrix) {
  const int64_t n = 9;
  const auto factor = numbers(8, {n, 3}, 1), variances = numbers(8, {n}, 2).square() + 0.1, v = numbers(8, {4, n}, 3);
  const auto identity = at::eye(n, v.options());
  const auto check = [&](const std::shared_ptr<const Covariance>& S, const Tensor& dense) {
    EXPECT_LT(relative_error(S->dense(), dense), 1e-13);
    EXPECT_LT(relative_error(S->multiply(v), v.matmul(dense)), 1e-13);
    EXPECT_LT(relative_error(S->colour(S->colour(v)), v.matmul(dense)), 1e-12);
    for (const double sigma : {0.0, 0.3, 40.0}) {
      const auto smoothed = dense + sigma * sigma * identity;
      EXPECT_LT(relative_error(S->solve(v, sigma), v.matmul(at::linalg_inv(smoothed))), 1e-11);
      EXPECT_NEAR(S->log_det(sigma), std::get<1>(at::linalg_slogdet(smoothed)).item<double>(), 1e-11);
    }
    const auto eigenvalues = at::linalg_eigvalsh(dense);
    EXPECT_NEAR(S->smallest_variance(), eigenvalues.min().item<double>(), 1e-12);
    EXPECT_NEAR(S->largest_variance(), eigenvalues.max().item<double>(), 1e-12);
  };
  check(Covariance::diagonal(variances), at::diag(variances));
  check(Covariance::low_rank(factor, 0.2), factor.matmul(factor.t()) + 0.2 * identity);
  check(Covariance::full(factor.matmul(factor.t()) + 0.2 * identity), factor.matmul(factor.t()) + 0.2 * identity);
}

TEST(Covariance, RefusesWhatIsNoCovariance) {
  const auto matrix = at::eye(3, at::TensorOptions().dtype(at::kDouble));
  EXPECT_THROW(Covariance::full(-matrix), InputError);
  EXPECT_THROW(Covariance::full(matrix.narrow(0, 0, 2)), InputError);
  EXPECT_THROW(Covariance::full(at::tensor({1.0, 2.0, 3.0, 4.0}).reshape({2, 2})), InputError);
  EXPECT_THROW(Covariance::diagonal(-at::ones({3})), InputError);
  EXPECT_THROW(Covariance::low_rank(at::ones({3, 1}), 0), InputError);
}

TEST(GaussianMixture, DrawsHaveItsMeanAndCovariance) {
  const auto v = test::vectors("gmm_score.json");
  const auto mixture = mixture_of(v["w"], v["mu"], v["S"]);
  const int64_t N = 200000;
  const auto draws = flat(*mixture.draw(N, {3, 0, 0}));
  const auto covariance = mixture.dense_covariance();
  const auto mean_error = (draws.mean(0) - mixture.mean()) / (covariance.diagonal() / static_cast<double>(N)).sqrt();
  EXPECT_LT(mean_error.abs().max().item<double>(), 4);
  const auto centred = draws - mixture.mean();
  const auto products = centred.unsqueeze(2) * centred.unsqueeze(1);
  const auto z = (products.mean(0) - covariance) / (products.std(0) / std::sqrt(static_cast<double>(N)));
  EXPECT_LT(z.abs().max().item<double>(), 4);
  // A draw belongs to its chain, however many are drawn.
  EXPECT_LT(relative_error(*mixture.draw(3, {3, 10, 0}), mixture.draw(20, {3, 0, 0})->narrow(0, 10, 3)), 1e-14);
}

TEST(GaussianMixture, IsExactInSinglePrecisionToItsRounding) {
  const auto exact = random_field({.side = 16, .modes = 6}, {at::kDouble, at::kCPU});
  const auto single = random_field({.side = 16, .modes = 6}, {at::kFloat, at::kCPU});
  const auto x = *exact->draw(5, {1, 0, 0});
  for (const double sigma : {0.02, 0.3, 5.0})
    EXPECT_LT(relative_error(single->score(x.to(at::kFloat), sigma), exact->score(x, sigma)), 2e-4) << sigma;
}

TEST(GaussianMixture, RefusesAWrongShapeAndANegativeSigma) {
  const auto prior = random_field({.side = 8, .modes = 4}, {at::kDouble, at::kCPU});
  EXPECT_THROW(prior->score(at::zeros({2, 1, 8, 9}, at::kDouble), 0.1), InputError);
  EXPECT_THROW(prior->score(at::zeros({2, 1, 8, 8}, at::kDouble), -0.1), InputError);
}

}  // namespace
}  // namespace penumbra
