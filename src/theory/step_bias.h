/// What the step size does to the samples of one mode, along one direction: exact where everything is Gaussian and the
/// direction is an eigenvector of both curvatures, and then the law of gaussian_law.h in one dimension.
///
/// With the likelihood's curvature h, the prior's p, a = alpha p, lambda = h + a and M the factor of one step,
///   RED: M = 1 - gamma lambda,               variance times 1 / (1 - gamma lambda / 2), no shift of the mean;
///   PnP: M = (1 - gamma a) (1 - gamma h),    variance times 2 gamma lambda / (1 - M^2),
///        mean shifted by gamma a grad g / lambda, grad g taken at the shifted mean.
/// With momentum mu, which makes an autoregression of two steps of it,
///   x'' = (M + mu) x' - mu x + noise of variance 2 gamma (1 - mu),
/// the variance is that of a vanishing step times 2 gamma lambda (1 + mu) / ((1 - M) (1 + M + 2 mu)), the mean the
/// same. Measured against the law that a vanishing step would have at the same sigma and alpha.
#pragma once

#include <optional>

#include "samplers/sampler.h"

namespace penumbra::theory {

struct Curvature {
  double likelihood = 0;  ///< h
  double prior = 0;       ///< p, of -log p_sigma
  double pull = 0;        ///< grad g along the direction, averaged over the samples
};

struct StepRule {
  double gamma = 0;
  double alpha = 1;
  Discretization discretization = Discretization::red;
  double momentum = 0;  ///< mu
};

struct StepBias {
  double excess = 0;      ///< of the variance, as a share of it: 0.08 is 8 % too much
  double mean_shift = 0;  ///< in SDs of the law without bias
};

/// Nothing where the step is unstable or lambda is not positive.
std::optional<StepBias> step_bias(const Curvature& along, const StepRule& rule);

/// The step, smaller than the rule's, whose excess is half of the rule's.
double halving_step(const Curvature& along, const StepRule& rule);

}  // namespace penumbra::theory
