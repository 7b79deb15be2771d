#include "app/step_limits.h"

#include <set>

#include "app/exact_problem.h"
#include "theory/lipschitz.h"

namespace penumbra::app {
namespace {

/// A few iterations from the first to the one that settles the schedule, that one last.
std::set<int64_t> levels(const Problem& problem, Levels which) {
  const auto settled = settled_at(*problem.sampler, problem.plan.steps);
  if (which == Levels::settled) return {settled};
  std::set<int64_t> chosen;
  for (int64_t quarter = 0; quarter <= 4; ++quarter) chosen.insert(settled * quarter / 4);
  return chosen;
}

}  // namespace

std::optional<theory::Theorem> covering_theorem(const Problem& problem) {
  const auto& name = problem.sampler_kind;
  if (name != "pmc-red" && name != "pmc-pnp" && name != "apmc-red" && name != "apmc-pnp") return std::nullopt;
  if (!problem.sampler->is_the_papers()) return std::nullopt;
  return theory::theorem_of(problem.entry->discretization, problem.entry->annealed);
}

double stability_constant(const Problem& problem, double sigma, double L_sigma) {
  const auto* prior = analytic_prior(problem);
  if (!prior) return L_sigma;
  double smallest = std::numeric_limits<double>::infinity();
  for (const auto& component : prior->components())
    smallest = std::min(smallest, component.covariance->smallest_variance());
  return 1 / (smallest + sigma * sigma);
}

StepLimits step_limits(const Problem& problem, const Tensor& points, Levels which) {
  StepLimits limits;
  if (!problem.entry->langevin || problem.entry->adjusted) return limits;
  const auto& [likelihood, prior] = problem.posterior;
  theory::BoundInputs inputs;
  inputs.theorem = theory::theorem_of(problem.entry->discretization, problem.entry->annealed);
  inputs.n = element_count(problem.posterior.image_shape());
  inputs.gamma = problem.sampler->step_size();
  inputs.L_g = theory::likelihood_lipschitz(*likelihood, points, theory::quick_lipschitz).value;
  auto stability = inputs;
  for (const auto k : levels(problem, which)) {
    const auto annealing = problem.sampler->annealing(k);
    const auto found = theory::score_lipschitz(*prior, points, annealing.sigma, theory::quick_lipschitz);
    const double L_sigma = found.value;
    limits.stiff_prior = found.direction;  // of the last level in the end
    inputs.iterations.push_back({annealing, L_sigma});
    stability.iterations.push_back({annealing, stability_constant(problem, annealing.sigma, L_sigma)});
  }
  limits.lipschitz_likelihood = inputs.L_g;
  limits.lipschitz_prior = inputs.iterations.back().L_sigma;
  limits.stability_settled = theory::stability_limit(stability, stability.iterations.size() - 1);
  if (which == Levels::settled) return limits;
  limits.stability = theory::stability_limit(stability);
  if (!covering_theorem(problem)) return limits;
  inputs.L_p =
      theory::score_lipschitz(*prior, points, exact_score(*prior).sigma_range().low, theory::quick_lipschitz).value;
  limits.theorem = theory::admissible_step(inputs);
  return limits;
}

}  // namespace penumbra::app
