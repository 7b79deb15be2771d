/// What of a configuration is Gaussian, so that its law is known exactly instead of estimated.
#pragma once

#include <optional>

#include "app/wiring.h"
#include "priors/gaussian_mixture.h"
#include "theory/gaussian_law.h"

namespace penumbra::app {

/// The score without the error that a configuration adds to it for study.
const Score& exact_score(const Score& score);

/// The analytic mixture behind the prior; null for a learned or clipped score.
const GaussianMixture* analytic_prior(const Problem& problem);

/// y = A x + e over real numbers: complex data are two rows each. Nothing unless the likelihood is a linear model with
/// white Gaussian noise and at most `largest` unknowns.
struct DenseData {
  Tensor A, y;  ///< [m, n], [m]
  double beta = 1;
};
std::optional<DenseData> dense_data(const Problem& problem, int64_t largest = 400);

/// A Gaussian prior, linear data, and a start with a density.
struct ExactProblem {
  theory::LinearGaussian problem;
  theory::GaussianLaw start;  ///< mean and covariance of the start
  bool normal_start = true;   ///< false: uniform, whose law is Gaussian only in its first two moments
  double KL0_excess = 0;      ///< KL of the start's own law minus that of the normal law with its moments
  double score_noise = 0;     ///< E|e|^2 of a fresh score error
  Tensor score_bias;          ///< of a constant one
};
std::optional<ExactProblem> exact_problem(const Problem& problem, int64_t largest = 400);

/// KL(nu_0 || pi) by averaging over draws of the start, for a mixture prior and linear data.
std::optional<double> estimate_initial_kl(const Problem& problem, int64_t largest = 400);

}  // namespace penumbra::app
