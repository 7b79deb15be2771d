#include "theory/step_bias.h"

#include <cmath>

namespace penumbra::theory {

std::optional<StepBias> step_bias(const Curvature& along, const StepRule& rule) {
  const double gamma = rule.gamma, mu = rule.momentum, h = along.likelihood, a = rule.alpha * along.prior,
               lambda = h + a;
  const bool pnp = rule.discretization == Discretization::pnp;
  const double M = pnp ? (1 - gamma * a) * (1 - gamma * h) : 1 - gamma * lambda;
  if (!(lambda > 0) || !(std::abs(M) < 1)) return std::nullopt;
  // 1 - M^2 = (1 - M)(1 + M), and 1 - M without its cancellation.
  const double fall = pnp ? gamma * (lambda - gamma * a * h) : gamma * lambda;
  const double shift = pnp ? gamma * a * along.pull / std::sqrt(lambda) : 0;
  return StepBias{2 * gamma * lambda * (1 + mu) / (fall * (1 + M + 2 * mu)) - 1, shift};
}

double halving_step(const Curvature& along, const StepRule& rule) {
  const auto now = step_bias(along, rule);
  if (!now) return 0;
  // The excess grows with the step; RED: x / (1 - x) at x = gamma lambda / 2.
  auto smaller = rule;
  double low = 0, high = rule.gamma;
  for (int round = 0; round < 60; ++round) {
    smaller.gamma = (low + high) / 2;
    const auto there = step_bias(along, smaller);
    (there && there->excess <= now->excess / 2 ? low : high) = smaller.gamma;
  }
  return low;
}

}  // namespace penumbra::theory
