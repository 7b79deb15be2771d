#include "app/exact_problem.h"

#include <ATen/ATen.h>

#include "likelihoods/gaussian.h"
#include "models/dense.h"
#include "priors/inexact.h"

namespace penumbra::app {
namespace {

Tensor to_double(const Tensor& x) { return x.detach().to(at::kCPU, at::kDouble); }

/// The score's error at one point, at two iterations: equal if it is constant.
struct ScoreError {
  Tensor first, second;
};

ScoreError score_error(const Problem& problem) {
  const auto x = initial_state(problem.start, *problem.posterior.prior, problem.seed, 0, 1, problem.placement).x;
  const auto sigma = problem.sampler->annealing(problem.plan.steps - 1).sigma;
  const auto& score = *problem.posterior.prior;
  const auto exact = exact_score(score).score(x, sigma);
  return {flat(score.score(x, sigma, {problem.seed, 0, 0}) - exact)[0],
          flat(score.score(x, sigma, {problem.seed, 0, 1}) - exact)[0]};
}

/// E_nu0 [log nu_0], where the start has a density.
std::optional<double> negative_entropy(const Problem& problem, const Tensor& draws) {
  const auto n = static_cast<double>(element_count(problem.posterior.image_shape()));
  const auto& start = problem.start;
  switch (start.kind) {
    case Start::Kind::uniform:
      return -n * std::log(start.high - start.low);
    case Start::Kind::normal:
      if (start.sd == 0) return std::nullopt;
      return -n / 2 * std::log(2 * M_PI * M_E * start.sd * start.sd);
    case Start::Kind::prior: {
      const auto log_density = exact_score(*problem.posterior.prior).log_density(draws, 0);
      return log_density ? std::optional(log_density->mean().item<double>()) : std::nullopt;
    }
    case Start::Kind::file:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

const Score& exact_score(const Score& score) {
  const auto* inexact = dynamic_cast<const InexactScore*>(&score);
  return inexact ? exact_score(inexact->exact()) : score;
}

bool has_fresh_error(const Problem& problem) {
  if (&exact_score(*problem.posterior.prior) == problem.posterior.prior.get()) return false;
  const auto error = score_error(problem);
  return !error.first.equal(error.second);
}

const GaussianMixture* analytic_prior(const Problem& problem) {
  return dynamic_cast<const GaussianMixture*>(&exact_score(*problem.posterior.prior));
}

std::optional<DenseData> dense_data(const Problem& problem, int64_t largest) {
  const auto* gaussian = dynamic_cast<const GaussianLikelihood*>(problem.posterior.likelihood.get());
  const auto n = element_count(problem.posterior.image_shape());
  if (!gaussian || !gaussian->model().linear() || n > largest) return std::nullopt;
  auto A = dense_matrix(gaussian->model(), problem.placement).detach().cpu();
  auto y = gaussian->data().flatten().detach().cpu();
  if (A.is_complex() || y.is_complex()) {  // beta is the noise of each real component (errata E32)
    A = at::cat({at::real(A), at::imag(A)});
    y = at::cat({at::real(y), at::imag(y)});
  }
  return DenseData{to_double(A), to_double(y), *gaussian->noise_sd()};
}

std::optional<ExactProblem> exact_problem(const Problem& problem, int64_t largest) {
  const auto* prior = analytic_prior(problem);
  const auto data = dense_data(problem, largest);
  if (!prior || prior->components().size() != 1 || !data) return std::nullopt;
  const auto& gaussian = prior->components()[0];
  if (!(gaussian.covariance->smallest_variance() > 0)) return std::nullopt;
  const auto mu = to_double(gaussian.mean), Sigma = to_double(gaussian.covariance->dense());
  ExactProblem exact{.problem = theory::LinearGaussian({data->A, data->y, data->beta * data->beta, mu, Sigma}),
                     .start = {mu, Sigma},
                     .score_bias = {}};
  const auto n = mu.size(0);
  const auto& start = problem.start;
  const auto isotropic = [&](double mean, double variance) {
    return theory::GaussianLaw{at::full_like(mu, mean), variance * at::eye(n, mu.options())};
  };
  if (start.kind == Start::Kind::uniform) {
    const double width = start.high - start.low;
    exact.start = isotropic((start.low + start.high) / 2, width * width / 12);
    exact.normal_start = false;
    exact.KL0_excess = static_cast<double>(n) / 2 * std::log(M_PI * M_E / 6);
  } else if (start.kind == Start::Kind::normal && start.sd > 0) {
    exact.start = isotropic(start.mean, start.sd * start.sd);
  } else if (start.kind != Start::Kind::prior) {
    return std::nullopt;
  }
  const double eps = problem.posterior.prior->error_bound().value_or(0);
  if (has_fresh_error(problem))  // uniform in the ball of radius eps
    exact.score_noise = eps * eps * static_cast<double>(n) / static_cast<double>(n + 2);
  else if (eps > 0)
    exact.score_bias = to_double(score_error(problem).first);
  return exact;
}

std::optional<double> estimate_initial_kl(const Problem& problem, int64_t largest) {
  const auto* prior = analytic_prior(problem);
  const auto data = dense_data(problem, largest);
  if (!prior || !data) return std::nullopt;
  const auto draws = initial_state(problem.start, *problem.posterior.prior, problem.seed, 0,
                                   problem.start.kind == Start::Kind::file ? 1 : 4000, problem.placement)
                         .x;
  const auto entropy = negative_entropy(problem, draws);
  if (!entropy) return std::nullopt;
  const auto A = data->A.to(draws.options()), y = data->y.to(draws.options());
  const auto log_pi = condition(*prior, A, y, data->beta).posterior->log_density(draws, 0);
  return *entropy - log_pi->mean().item<double>();
}

}  // namespace penumbra::app
