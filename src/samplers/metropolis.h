/// A Langevin step with a Metropolis test (MALA; Roberts and Tweedie 1996): the posterior itself, whatever the step.
///
/// A step of PMC-RED is proposed, x' = x + gamma s(x) + sqrt(2 gamma) z with s = S(x, sigma) - grad g(x), and taken
/// with probability min(1, exp(r)),
///   r = log pi(x') - log pi(x) + [|x' - x - gamma s(x)|^2 - |x - x' - gamma s(x')|^2] / (4 gamma),
/// for which log pi = log p_sigma - g must be known and not only its gradient.
#pragma once

#include "core/random.h"
#include "samplers/posterior.h"

namespace penumbra {

struct AdjustedMove {
  Tensor x;
  Tensor taken;          ///< [chains], bool
  Tensor acceptance;     ///< min(1, exp(r)), [chains]
  Tensor grad_g, score;  ///< where the step began
};

/// Nothing where the prior's log density at sigma is not known. `test` is the stream of the numbers that decide.
std::optional<AdjustedMove> adjusted_move(const Posterior& posterior, const Tensor& x, double sigma, double gamma,
                                          const Cursor& at, Stream test);

}  // namespace penumbra
