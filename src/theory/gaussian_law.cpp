#include "theory/gaussian_law.h"

#include <ATen/ATen.h>

#include "core/error.h"

namespace penumbra::theory {
namespace {

Tensor identity(const Tensor& like) { return at::eye(like.size(-1), like.options()); }

Tensor symmetric(const Tensor& C) { return (C + C.t()) / 2; }

Tensor to_double(const Tensor& x) { return x.detach().to(at::kCPU, at::kDouble); }

/// C = sum_k M^k q (M^k)^T by doubling: after j rounds the sum has 2^j terms.
Tensor lyapunov(Tensor M, double q) {
  auto C = q * identity(M);
  for (int round = 0; round < 64; ++round) {
    const auto more = M.mm(C).mm(M.t());
    C = symmetric(C + more);
    if (more.abs().max().item<double>() <= 1e-18 * C.abs().max().item<double>()) break;
    M = M.mm(M);
  }
  return C;
}

}  // namespace

LinearGaussian::LinearGaussian(const LinearGaussianProblem& problem) : mu_(to_double(problem.mu)) {
  const auto A = to_double(problem.A), Sigma = to_double(problem.Sigma);
  const auto n = mu_.size(0);
  if (A.dim() != 2 || A.size(1) != n || Sigma.dim() != 2 || Sigma.size(0) != n || Sigma.size(1) != n)
    input_error("LinearGaussian: A {}, mu {} and Sigma {} do not belong together", describe(A.sizes()),
                describe(mu_.sizes()), describe(Sigma.sizes()));
  H_ = A.t().mm(A) / problem.beta2;
  b_ = A.t().mv(to_double(problem.y)) / problem.beta2;
  std::tie(variances_, basis_) = at::linalg_eigh(Sigma);
  if (variances_[0].item<double>() <= 0) input_error("LinearGaussian: Sigma must be positive definite");
  const auto P = prior_precision(0);
  precision_ = symmetric(H_ + P);
  posterior_.covariance = symmetric(at::linalg_inv(precision_));
  posterior_.mean = at::linalg_solve(precision_, b_ + P.mv(mu_));
}

Tensor LinearGaussian::prior_precision(double sigma) const {
  return symmetric((basis_ / (variances_ + sigma * sigma)).mm(basis_.t()));
}

double LinearGaussian::likelihood_lipschitz() const { return at::linalg_eigvalsh(H_).max().item<double>(); }

double LinearGaussian::score_lipschitz(double sigma) const {
  return 1 / (variances_[0].item<double>() + sigma * sigma);
}

AffineMap LinearGaussian::map(const LawStep& step, double tau) const {
  const auto alpha = step.annealing.alpha;
  const auto alpha_P = alpha * prior_precision(step.annealing.sigma);
  auto drift = H_ + alpha_P;
  auto pull = b_ + alpha_P.mv(mu_);
  if (step.discretization == Discretization::pnp) {  // the score is taken at x - gamma (H x - b)
    drift = drift - step.gamma * alpha_P.mm(H_);
    pull = pull - step.gamma * alpha_P.mv(b_);
  }
  if (step.score_bias.defined()) pull = pull + alpha * to_double(step.score_bias);
  const auto n = static_cast<double>(dimension());
  return {identity(drift) - tau * drift, tau * pull, 2 * tau + tau * tau * alpha * alpha * step.score_noise / n};
}

std::optional<GaussianLaw> LinearGaussian::stationary(const LawStep& step) const {
  const auto [M, c, q] = map(step);
  if (!(spectral_radius(M) < 1)) return std::nullopt;
  const auto I = identity(M);
  auto mean = at::linalg_solve(I - M, c);
  if (step.discretization == Discretization::pnp) return GaussianLaw{mean, lyapunov(M, q)};
  // RED: M = I - gamma Lambda is symmetric and C = Lambda^-1 (I - gamma Lambda / 2)^-1 q / (2 gamma), which is
  // q (I - M^2)^-1 in the eigenbasis of Lambda.
  const auto [lambda, Q] = at::linalg_eigh(symmetric(I - M) / step.gamma);
  const auto variance = q / (2 * step.gamma) / (lambda * (1 - step.gamma * lambda / 2));
  return GaussianLaw{mean, symmetric((Q * variance).mm(Q.t()))};
}

GaussianLaw propagate(const GaussianLaw& law, const AffineMap& map) {
  const auto C = map.M.mm(law.covariance).mm(map.M.t()) + map.q * identity(map.M);
  return {map.M.mv(law.mean) + map.c, symmetric(C)};
}

double spectral_radius(const Tensor& M) { return at::linalg_eigvals(M).abs().max().item<double>(); }

}  // namespace penumbra::theory
