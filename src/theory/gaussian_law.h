/// The exact law of the PMC iterates when everything is Gaussian: prior N(mu, Sigma), data y = A x + N(0, beta^2 I).
///
/// With H = A^T A / beta^2, b = A^T y / beta^2 and P = (Sigma + sigma^2 I)^-1 one step of either algorithm is affine,
///   RED: x' = x - gamma [(H + alpha P) x - b - alpha P mu] + sqrt(2 gamma) z,
///   PnP: the same with P applied at x - gamma (H x - b),
/// so a Gaussian stays Gaussian: m' = M m + c, C' = M C M^T + q I.
#pragma once

#include <optional>

#include "core/tensor.h"
#include "samplers/sampler.h"
#include "samplers/schedule.h"

namespace penumbra::theory {

/// N(mean, covariance), [n] and [n, n], float64.
struct GaussianLaw {
  Tensor mean, covariance;
};

struct LinearGaussianProblem {
  Tensor A;  ///< [m, n]
  Tensor y;  ///< [m]
  double beta2 = 1;
  Tensor mu;     ///< [n]
  Tensor Sigma;  ///< [n, n], positive definite
};

/// One iteration as the law sees it.
struct LawStep {
  double gamma = 0;
  Annealing annealing;
  Discretization discretization = Discretization::red;
  double score_noise = 0;  ///< E|e|^2 of a fresh, zero-mean, isotropic score error: extra temperature (errata E14)
  Tensor score_bias{};     ///< a constant score error [n]; undefined for none
};

/// x -> M x + c + N(0, q I).
struct AffineMap {
  Tensor M, c;
  double q = 0;
};

class LinearGaussian {
 public:
  explicit LinearGaussian(const LinearGaussianProblem& problem);

  int64_t dimension() const { return mu_.size(0); }
  const Tensor& H() const { return H_; }
  const Tensor& b() const { return b_; }
  const Tensor& mu() const { return mu_; }
  /// P = (Sigma + sigma^2 I)^-1.
  Tensor prior_precision(double sigma) const;
  /// The true posterior, sigma = 0 and alpha = 1.
  const GaussianLaw& posterior() const { return posterior_; }
  const Tensor& posterior_precision() const { return precision_; }
  double likelihood_lipschitz() const;         ///< L_g = |H|
  double score_lipschitz(double sigma) const;  ///< L_sigma = 1 / (lambda_min + sigma^2); L_p at sigma = 0

  /// The whole step, tau = gamma.
  AffineMap map(const LawStep& step) const { return map(step, step.gamma); }
  /// The interpolation of the proofs at tau in [0, gamma]: x_t = x_k - tau drift(x_k) + sqrt(2 tau) z.
  AffineMap map(const LawStep& step, double tau) const;
  /// The limit of repeating the step for ever; nothing if the step is unstable.
  std::optional<GaussianLaw> stationary(const LawStep& step) const;

 private:
  Tensor H_, b_, mu_, basis_, variances_, precision_;
  GaussianLaw posterior_;
};

GaussianLaw propagate(const GaussianLaw& law, const AffineMap& map);

/// The largest modulus of an eigenvalue: the step is stable iff this is below 1.
double spectral_radius(const Tensor& M);

}  // namespace penumbra::theory
