#include "samplers/metropolis.h"

#include <ATen/ATen.h>

#include <cmath>

namespace penumbra {
namespace {

struct Place {
  Tensor log_density, drift, grad_g, score;  ///< up to a constant, [chains]; s(x), grad g, S
};

/// Both ends of a step ask at the same iteration: a score error that is drawn there is the same function of x at both,
/// and the test stays exact.
std::optional<Place> look(const Posterior& posterior, const Tensor& x, double sigma, const Cursor& at) {
  const auto& [g, S] = posterior;
  const auto log_prior = S->log_density(x, sigma);
  if (!log_prior) return std::nullopt;
  const auto grad_g = g->grad(x), score = S->score(x, sigma, at);
  return Place{(*log_prior - g->value(x)).to(at::kDouble), score - grad_g, grad_g, score};
}

}  // namespace

std::optional<AdjustedMove> adjusted_move(const Posterior& posterior, const Tensor& x, double sigma, double gamma,
                                          const Cursor& at, Stream test) {
  const auto here = look(posterior, x, sigma, at);
  if (!here) return std::nullopt;
  const auto z = normal(at, Stream::langevin, x);
  const auto proposal = x + gamma * here->drift + std::sqrt(2 * gamma) * z;
  const auto there = look(posterior, proposal, sigma, at);
  const auto back = (x - proposal - gamma * there->drift) / std::sqrt(2 * gamma);
  const auto squares = [](const Tensor& v) { return flat(v).to(at::kDouble).square().sum(1); };
  const auto log_ratio = there->log_density - here->log_density + (squares(z) - squares(back)) / 2;
  const auto u = uniform(at, test, at::empty({x.size(0), 1}, x.options().dtype(at::kDouble))).squeeze(1);
  // A proposal that is no number compares false and is refused.
  const auto taken = u.log() < log_ratio;
  return AdjustedMove{at::where(per_chain(taken, x), proposal, x), taken,
                      log_ratio.nan_to_num(-1e300).clamp_max(0).exp(), here->grad_g, here->score};
}

}  // namespace penumbra
