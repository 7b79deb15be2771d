/// One step of every sampler against its formula, written out independently; the noise is drawn again by the test.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "core/named.h"
#include "likelihoods/gaussian.h"
#include "models/dense.h"
#include "priors/gaussian_mixture.h"
#include "priors/inexact.h"
#include "samplers/sampler.h"
#include "support/numbers.h"
#include "support/paths.h"

namespace penumbra {
namespace {

using test::numbers;

constexpr uint64_t step_seed = 99;

struct StepTest : testing::Test {
  Shape shape{1, 2, 3};
  Tensor A = numbers(5, {4, 6}, 1), y = numbers(5, {4}, 2);
  double beta = 0.7;
  Tensor factor = numbers(5, {6, 6}, 3), mu = numbers(5, {6}, 4);
  Tensor Sigma = factor.matmul(factor.t()) + 0.5 * at::eye(6, factor.options());
  std::shared_ptr<GaussianMixture> prior = std::make_shared<GaussianMixture>(
      shape, std::vector{Component{1, mu, Covariance::full(Sigma)}, Component{2, -mu, Covariance::full(2 * Sigma)}});
  std::shared_ptr<GaussianLikelihood> likelihood =
      std::make_shared<GaussianLikelihood>(std::make_shared<DenseModel>(shape, A), y, beta);
  Posterior posterior{likelihood, prior};
  Tensor x = numbers(5, {5, 1, 2, 3}, 6);
  const int64_t k = 11, first_chain = 3;

  Tensor z() { return normal({step_seed, first_chain, k}, Stream::langevin, x); }
  Tensor grad_g(const Tensor& at) { return ((flat(at).matmul(A.t()) - y).matmul(A) / (beta * beta)).view_as(at); }
  /// By inverting the smoothed covariances, and log-sum-exp by hand.
  Tensor score(const Tensor& at, double sigma) {
    const auto rows = flat(at);
    std::vector<Tensor> log_terms, pulls;
    for (const auto& [weight, mean, S] : {std::tuple{1 / 3.0, mu, Sigma}, {2 / 3.0, -mu, 2 * Sigma}}) {
      const auto C = S + sigma * sigma * at::eye(6, S.options());
      const auto pull = (rows - mean).matmul(at::linalg_inv(C));
      log_terms.push_back(std::log(weight) - 0.5 * std::get<1>(at::linalg_slogdet(C)) -
                          0.5 * (pull * (rows - mean)).sum(1));
      pulls.push_back(pull);
    }
    const auto p0 = log_terms[0].exp(), p1 = log_terms[1].exp();
    return -((p0.unsqueeze(1) * pulls[0] + p1.unsqueeze(1) * pulls[1]) / (p0 + p1).unsqueeze(1)).view_as(at);
  }
  Tensor step(const std::string& kind, const std::string& options) {
    auto settings = Settings::from_text(options, "test");
    const auto sampler = find_named(sampler_entries(), kind)->make(settings, {posterior, step_seed, 100});
    settings.finish();
    ChainState state{x, k, first_chain};
    sampler->step(state);
    EXPECT_EQ(state.k, k + 1);
    EXPECT_EQ(state.first_chain, first_chain);
    return state.x;
  }
  void expect_same(const Tensor& got, const Tensor& expected) { EXPECT_LT(test::relative_error(got, expected), 1e-12); }
};

TEST_F(StepTest, PmcRedIsAlgorithm1) {
  const double gamma = 0.03, sigma = 0.4;
  expect_same(step("pmc-red", "{step_size: 0.03, sigma: 0.4}"),
              x - gamma * (grad_g(x) - score(x, sigma)) + std::sqrt(2 * gamma) * z());
}

TEST_F(StepTest, PmcPnpIsAlgorithm1) {
  const double gamma = 0.03, sigma = 0.4;
  expect_same(step("pmc-pnp", "{step_size: 0.03, sigma: 0.4}"),
              x - gamma * (grad_g(x) - score(x - gamma * grad_g(x), sigma)) + std::sqrt(2 * gamma) * z());
}

constexpr auto annealed = "{step_size: 0.03, schedule: {sigma_0: 3, sigma_min: 0.1, xi: 0.9, alpha_0: 2}}";

TEST_F(StepTest, MalaIsTheRedStepTakenWithItsProbability) {
  const double gamma = 0.1, sigma = 0.4;
  const auto drift = [&](const Tensor& at) { return score(at, sigma) - grad_g(at); };
  // Up to a constant, by hand.
  const auto log_pi = [&](const Tensor& at) {
    const auto rows = flat(at);
    std::vector<Tensor> terms;
    for (const auto& [weight, mean, S] : {std::tuple{1 / 3.0, mu, Sigma}, {2 / 3.0, -mu, 2 * Sigma}}) {
      const auto C = S + sigma * sigma * at::eye(6, S.options());
      const auto d = rows - mean;
      terms.push_back(std::log(weight) - 0.5 * std::get<1>(at::linalg_slogdet(C)) -
                      0.5 * (d.matmul(at::linalg_inv(C)) * d).sum(1));
    }
    return at::logsumexp(at::stack(terms), {0}) - (rows.matmul(A.t()) - y).square().sum(1) / (2 * beta * beta);
  };
  const auto log_q = [&](const Tensor& to, const Tensor& from) {
    return -flat(to - from - gamma * drift(from)).square().sum(1) / (4 * gamma);
  };
  const auto proposal = x + gamma * drift(x) + std::sqrt(2 * gamma) * z();
  const auto log_ratio = log_pi(proposal) + log_q(x, proposal) - log_pi(x) - log_q(proposal, x);
  const auto u = uniform({step_seed, first_chain, k}, Stream::resample, at::empty({5, 1}, at::kDouble)).squeeze(1);
  const auto taken = u.log() < log_ratio;
  ASSERT_TRUE(taken.any().item<bool>() && !taken.all().item<bool>()) << "this test needs both: " << log_ratio;
  expect_same(step("mala", "{step_size: 0.1, sigma: 0.4}"), at::where(per_chain(taken, x), proposal, x));
}

TEST_F(StepTest, ApmcRedIsAlgorithm2) {
  const double gamma = 0.03, sigma = 3 * std::pow(0.9, 11), alpha = 2 * sigma * sigma;
  ASSERT_GT(alpha, 1);
  expect_same(step("apmc-red", annealed),
              x - gamma * (grad_g(x) - alpha * score(x, sigma)) + std::sqrt(2 * gamma) * z());
}

TEST_F(StepTest, ApmcPnpIsAlgorithm2) {
  const double gamma = 0.03, sigma = 3 * std::pow(0.9, 11), alpha = 2 * sigma * sigma;
  expect_same(step("apmc-pnp", annealed),
              x - gamma * (grad_g(x) - alpha * score(x - gamma * grad_g(x), sigma)) + std::sqrt(2 * gamma) * z());
}

TEST_F(StepTest, WarmNoiseIsThatOfTheAnnealedPosterior) {
  const double gamma = 0.03, sigma = 3 * std::pow(0.9, 11), alpha = 2 * sigma * sigma;
  const auto warm = "{step_size: 0.03, noise: warm, schedule: {sigma_0: 3, sigma_min: 0.1, xi: 0.9, alpha_0: 2}}";
  expect_same(step("apmc-red", warm),
              x + gamma * alpha * (score(x, sigma) - grad_g(x) / alpha) + std::sqrt(2 * gamma * alpha) * z());
}

TEST_F(StepTest, DataAreComparedWithTheDenoisedImageUntilTheScheduleSettles) {
  const double gamma = 0.03, sigma = 3 * std::pow(0.9, 11), alpha = 2 * sigma * sigma;
  const auto moved = [&](double level, double weight) {
    const auto S = score(x, level), grad = grad_g(x + level * level * S);
    return x - gamma * (grad - weight * S) + std::sqrt(2 * gamma) * z();
  };
  const std::string options = "{step_size: 0.03, likelihood_at: denoised, schedule: ";
  const auto annealing = options + "{sigma_0: 3, sigma_min: 0.1, xi: 0.9, alpha_0: 2}}";
  expect_same(step("apmc-red", annealing), moved(sigma, alpha));
  expect_same(step("apmc-pnp", annealing), moved(sigma, alpha));
  // 0.1 is reached after 33 steps of 0.9, after 6 of 0.5.
  const auto settled = options + "{sigma_0: 3, sigma_min: 0.1, xi: 0.5, alpha_0: 2}}";
  expect_same(step("apmc-red", settled), step("apmc-red",
                                              "{step_size: 0.03, schedule: {sigma_0: 3, sigma_min: 0.1, "
                                              "xi: 0.5, alpha_0: 2}}"));
}

TEST_F(StepTest, ByTheChainRuleTheGradientIsThatOfTheDenoisedImagesMisfit) {
  const double gamma = 0.03, sigma = 3 * std::pow(0.9, 11), alpha = 2 * sigma * sigma;
  const auto S = score(x, sigma);
  // Central differences of g(D(x)), pixel by pixel: rounding 1e-11, the cubic term 1e-8.
  const auto misfit = [&](const Tensor& at) { return likelihood->value(at + sigma * sigma * score(at, sigma)); };
  auto gradient = at::zeros_like(x);
  const double e = 1e-4;
  for (int64_t pixel = 0; pixel < x[0].numel(); ++pixel) {
    auto step = at::zeros_like(x);
    step.flatten(1).select(1, pixel).fill_(e);
    gradient.flatten(1).select(1, pixel).copy_((misfit(x + step) - misfit(x - step)) / (2 * e));
  }
  const auto expected = x - gamma * (gradient - alpha * S) + std::sqrt(2 * gamma) * z();
  for (const auto* kind : {"apmc-red", "apmc-pnp"}) {
    const auto moved = step(kind,
                            "{step_size: 0.03, likelihood_at: denoised, chain_rule: true, schedule: {sigma_0: 3, "
                            "sigma_min: 0.1, xi: 0.9, alpha_0: 2}}");
    EXPECT_LT(test::relative_error(moved, expected), 1e-6);
  }
}

/// A likelihood that has its own answer to more noise: here g_alpha = g / (10 + alpha).
class Noisier final : public Likelihood {
 public:
  Noisier(std::shared_ptr<const Likelihood> g, const Tensor& scale)
      : Likelihood(g->image_shape()), g_(g), scale_(scale) {}
  std::vector<Misfit> misfit(const Tensor& x) const override { return g_->misfit(x); }
  Tensor simulate(const Tensor& x, const Cursor& at) const override { return g_->simulate(x, at); }
  std::shared_ptr<const Likelihood> noisier(const Tensor& alpha) const override {
    return std::make_shared<Noisier>(g_, 1 / (10 + alpha));
  }

 private:
  Tensor do_value(const Tensor& x) const override { return scale_ * g_->value(x); }
  Tensor do_grad(const Tensor& x) const override { return scale_ * g_->grad(x); }

  std::shared_ptr<const Likelihood> g_;
  Tensor scale_;
};

TEST_F(StepTest, AddedNoiseTakesTheDataAsTheLikelihoodWouldHaveThemWithMoreNoise) {
  const double sigma = 3 * std::pow(0.9, 11), alpha = 2 * sigma * sigma, gamma = 0.03;
  posterior.likelihood = std::make_shared<Noisier>(likelihood, at::ones({}));
  const auto expected =
      x - gamma * (alpha / (10 + alpha) * grad_g(x) - alpha * score(x, sigma)) + std::sqrt(2 * gamma) * z();
  expect_same(step("apmc-red",
                   "{step_size: 0.03, tempering: added, schedule: {sigma_0: 3, sigma_min: 0.1, xi: 0.9, alpha_0: 2}}"),
              expected);
}

TEST_F(StepTest, PullCutsTheStepWhereItIsTooLongForThePrior) {
  const double sigma = 3 * std::pow(0.9, 11), alpha = 2 * sigma * sigma;
  const auto expected = [&](double gamma) {
    return x - gamma * (grad_g(x) - alpha * score(x, sigma)) + std::sqrt(2 * gamma) * z();
  };
  const std::string schedule = "schedule: {sigma_0: 3, sigma_min: 0.1, xi: 0.9, alpha_0: 2}}";
  // gamma alpha_k / sigma_k^2 is 0.06 with the whole step.
  expect_same(step("apmc-red", "{step_size: 0.03, pull: 0.07, " + schedule), expected(0.03));
  expect_same(step("apmc-red", "{step_size: 0.03, pull: 0.01, " + schedule), expected(0.005));
}

TEST_F(StepTest, DenoisedRecordsAreTheIteratesWithoutTheNoiseOfTheirLevel) {
  auto settings = Settings::from_text(
      "{step_size: 0.03, records: denoised, schedule: {sigma_0: 3, sigma_min: 0.1, xi: 0.9, alpha_0: 2}}", "test");
  const auto sampler = find_named(sampler_entries(), "apmc-pnp")->make(settings, {posterior, step_seed, 100});
  const double sigma = 3 * std::pow(0.9, 11);
  expect_same(sampler->image({x, k, first_chain}), x + sigma * sigma * score(x, sigma));
  EXPECT_FALSE(sampler->is_the_papers());
}

/// What likelihood_at: denoised promises: for a Gaussian prior D(x) settles at the mean of the posterior whose data
/// have variance alpha beta^2, whatever sigma. The step is affine, so taking its known noise off leaves the mean's
/// course.
TEST_F(StepTest, TheDenoisedImageSettlesAtThePosteriorMeanOfAGaussianPrior) {
  const double sigma = 1.3, alpha = 4, gamma = 0.02;
  const auto gaussian =
      std::make_shared<GaussianMixture>(shape, std::vector{Component{1, mu, Covariance::full(Sigma)}});
  // sigma falls by 1e-8 of itself in all these steps: the schedule stays where it is, and has not settled.
  auto settings = Settings::from_text(
      fmt::format("{{step_size: {}, likelihood_at: denoised, schedule: {{sigma_0: {}, sigma_min: 0.1, xi: {:.17g}, "
                  "alpha_0: {:.17g}}}}}",
                  gamma, sigma, 1 - 1e-12, alpha / (sigma * sigma)),
      "test");
  const auto sampler =
      find_named(sampler_entries(), "apmc-pnp")->make(settings, {Posterior{likelihood, gaussian}, step_seed, 10000});
  ChainState state{at::zeros({1, 1, 2, 3}, at::kDouble), 0, 0};
  while (state.k < 10000) {
    const auto noise = std::sqrt(2 * gamma) * normal({step_seed, 0, state.k}, Stream::langevin, state.x);
    sampler->step(state);
    state.x = state.x - noise;
  }
  const auto precision = at::linalg_inv(Sigma) + A.t().matmul(A) / (alpha * beta * beta);
  const auto pull = at::linalg_inv(Sigma).matmul(mu) + A.t().matmul(y) / (alpha * beta * beta);
  EXPECT_LT(test::relative_error(gaussian->denoise(state.x, sigma).flatten(), at::linalg_inv(precision).matmul(pull)),
            1e-6);
}

/// Between changes of level, and at the first of them: gamma is as stable as step_size at sigma_min.
TEST_F(StepTest, SmcIsARedStepAtItsLevel) {
  const double L_g = *likelihood->typical_curvature(), sigma = 3;
  const double gamma = 0.03 * (L_g + 1 / 0.01) / (L_g + 1 / (sigma * sigma));
  expect_same(step("smc", "{step_size: 0.03, sigma_0: 3, sigma_min: 0.1, metropolis: false}"),
              x - gamma * (grad_g(x) - score(x, sigma)) + std::sqrt(2 * gamma) * z());
}

/// After an odd number of steps the chain's own level has no partner.
TEST_F(StepTest, ReplicaIsARedStepAtSigmaMin) {
  const double gamma = 0.03, sigma = 0.1;
  const auto noise = normal({step_seed, first_chain, 3 * k}, Stream::langevin, x);
  expect_same(step("replica", "{step_size: 0.03, sigma_0: 3, sigma_min: 0.1, levels: 3, metropolis: false}"),
              x - gamma * (grad_g(x) - score(x, sigma)) + std::sqrt(2 * gamma) * noise);
}

TEST_F(StepTest, PnpUlaProjectsTheRedStep) {
  const double gamma = 0.03, sigma = 0.4;
  const auto free = x - gamma * (grad_g(x) - 1.5 * score(x, sigma)) + std::sqrt(2 * gamma) * z();
  ASSERT_TRUE((free < -0.5).any().item<bool>() && (free > 0.6).any().item<bool>());
  expect_same(step("pnp-ula", "{step_size: 0.03, sigma: 0.4, alpha: 1.5, box_low: -0.5, box_high: 0.6}"),
              free.clamp(-0.5, 0.6));
}

TEST_F(StepTest, PnpUlaVariantsAreThoseOfTheSupplement) {
  const double gamma = 0.03;
  const auto free = [&](double sigma) {
    return x - gamma * (grad_g(x) - score(x, sigma)) + std::sqrt(2 * gamma) * z();
  };
  ASSERT_TRUE((free(0.4) < -1).any().item<bool>() && (free(0.4) > 1).any().item<bool>());
  expect_same(step("pnp-ula", "{step_size: 0.03, sigma: 0.4, variant: np}"), free(0.4));
  expect_same(step("pnp-ula", "{step_size: 0.03, sigma: 0.4, variant: cus}"), free(0.4).clamp(-1, 2));
  expect_same(step("pnp-ula", "{step_size: 0.03, variant: ori}"), free(5.0 / 255).clamp(-1, 2));
  expect_same(step("pnp-ula", "{step_size: 0.03, variant: ori, sigma: 0.4, box_high: 1}"), free(0.4).clamp(-1, 1));
}

TEST_F(StepTest, PnpIsTheDenoisedGradientStep) {
  const double gamma = 0.03, sigma = 0.4;
  const auto v = x - gamma * grad_g(x);
  expect_same(step("pnp", "{step_size: 0.03, sigma: 0.4}"), v + sigma * sigma * score(v, sigma));
  expect_same(step("pnp", "{step_size: 0.03, sigma: 0.4, strength: 0.3}"), v + 0.3 * sigma * sigma * score(v, sigma));
}

TEST_F(StepTest, RedIsTheGradientStepWithTheResidual) {
  const double gamma = 0.03, sigma = 0.4, tau = 2;
  expect_same(step("red", "{step_size: 0.03, sigma: 0.4, tau: 2}"),
              x - gamma * (grad_g(x) - tau * sigma * sigma * score(x, sigma)));
}

TEST_F(StepTest, AnnealedLangevinScalesTheStepWithTheLevel) {
  posterior.likelihood = make_likelihood(Settings::from_text("kind: none", "test"), shape, {});
  // 100 steps in 10 levels: iteration 11 is on the second of ten levels from 3 to 0.3, a factor 10^(1/9) each.
  const double sigma = 3 * std::pow(0.1, 1 / 9.0), gamma = 0.01 * std::pow(sigma / 0.3, 2);
  expect_same(step("annealed-langevin", "{step_size: 0.01, sigma_0: 3, sigma_min: 0.3, levels: 10}"),
              x + gamma * score(x, sigma) + std::sqrt(2 * gamma) * z());
}

TEST_F(StepTest, ClippingBoundsTheNormsAndLeavesShortOnesAlone) {
  const auto exact = prior->score(x, 0.3);
  const auto norms = norm_per_chain(exact);
  const double bound = norms.median().item<double>();
  const auto clipped = ClippedScore(prior, bound).score(x, 0.3);
  EXPECT_LT(norm_per_chain(clipped).max().item<double>(), bound * (1 + 1e-12));
  for (int64_t c = 0; c < x.size(0); ++c) EXPECT_TRUE(norms[c].item<double>() > bound || clipped[c].equal(exact[c]));
}

TEST_F(StepTest, TheFreshScoreErrorStaysInItsBallAndIsUniformThere) {
  const InexactScore noisy(prior, 2.5);
  const auto many = at::zeros({20000, 1, 2, 3}, x.options());
  const auto error = noisy.score(many, 0.3, {step_seed, 0, 0}) - prior->score(many, 0.3);
  const auto radius = norm_per_chain(error) / 2.5;
  EXPECT_LE(radius.max().item<double>(), 1 + 1e-9);
  // Uniform in the n-ball: E r^2 = n/(n+2); four standard errors with var r^2 <= 1/12 from above.
  EXPECT_NEAR(radius.square().mean().item<double>(), 6.0 / 8.0, 4 * std::sqrt(1.0 / 12 / 20000));
  EXPECT_LT(error.mean(0).abs().max().item<double>(), 5 * 2.5 / std::sqrt(8.0 * 20000));
  EXPECT_FALSE(noisy.score(many, 0.3, {step_seed, 0, 1}).equal(noisy.score(many, 0.3, {step_seed, 0, 0})));
}

}  // namespace
}  // namespace penumbra
