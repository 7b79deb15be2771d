#include "app/step_effect.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "theory/lipschitz.h"

namespace penumbra::app {
namespace {

theory::Curvature measure(const Posterior& posterior, double sigma, const Tensor& x, const Tensor& v,
                          const Tensor& centre) {
  const auto& [g, S] = posterior;
  const auto one = [](const Tensor& number) { return number.item<double>(); };
  const c10::NoGradGuard no_gradients;
  return {.likelihood = one(theory::curvature_along([&](const Tensor& at) { return g->grad(at); }, x, v)),
          .prior = -one(theory::curvature_along([&](const Tensor& at) { return S->score(at, sigma); }, x, v)),
          .pull = one((g->grad(centre) * v).sum())};
}

std::string percent(double share) { return fmt::format("{:.{}f} %", 100 * share, share < 0.0995 ? 1 : 0); }

}  // namespace

std::optional<StepEffect> step_effect(const Problem& problem, const StepLimits& limits, const Tensor& points,
                                      const Tensor& centre) {
  if (!problem.entry->langevin || problem.entry->adjusted || !limits.stiff_prior.defined()) return std::nullopt;
  const auto [sigma, alpha] = problem.sampler->annealing(problem.plan.steps - 1);
  const theory::StepRule rule{problem.sampler->step_size(), alpha, problem.entry->discretization,
                              problem.sampler->momentum()};
  const auto x = points.narrow(0, 0, 1);
  std::optional<StepEffect> worst;
  const auto consider = [&](StepEffect::Along along, const Tensor& v) {
    const auto curvature = measure(problem.posterior, sigma, x, v, centre);
    const auto bias = theory::step_bias(curvature, rule);
    if (bias && std::isfinite(bias->excess) && (!worst || bias->excess > worst->bias.excess))
      worst = StepEffect{along, curvature, rule, *bias, theory::halving_step(curvature, rule)};
  };
  if (problem.posterior.likelihood->has_data())
    consider(StepEffect::Along::data,
             theory::stiffest_direction(*problem.posterior.likelihood, x, theory::quick_lipschitz));
  consider(StepEffect::Along::prior, limits.stiff_prior.narrow(0, 0, 1));
  return worst;
}

nlohmann::json to_json(const StepEffect& effect) {
  return {{"along", effect.along == StepEffect::Along::data ? "data" : "prior"},
          {"variance_excess", effect.bias.excess},
          {"mean_shift_in_sd", effect.bias.mean_shift},
          {"curvature_likelihood", effect.curvature.likelihood},
          {"curvature_prior", effect.curvature.prior},
          {"halving_step_size", effect.halving_step}};
}

diagnostics::StepClause clause(const StepEffect& effect) {
  const auto where = effect.along == StepEffect::Along::data ? "the data see most" : "the prior is stiffest in";
  auto text =
      fmt::format("it inflates the variance by about {} in the direction that {}", percent(effect.bias.excess), where);
  if (const double shift = std::abs(effect.bias.mean_shift); shift >= 0.005)
    text += fmt::format(" and shifts the mean there by {:.2g} SD", shift);
  return {effect.bias.excess, text + fmt::format("; {:.3g} would halve that", effect.halving_step)};
}

}  // namespace penumbra::app
