#include "app/pilot.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include "app/exact_problem.h"
#include "theory/lipschitz.h"

namespace penumbra::app {
namespace {

double root_mean_square(const Tensor& norms) { return std::sqrt(norms.square().mean().item<double>()); }

void raise(std::optional<double>& largest, double value) { largest = std::max(largest.value_or(0), value); }

/// For each pair of components the point between their means that belongs to both equally: there the score of a
/// mixture changes fastest.
std::vector<Tensor> between_modes(const GaussianMixture& prior, double sigma) {
  std::vector<Tensor> points;
  const auto count = std::min<int64_t>(4, static_cast<int64_t>(prior.components().size()));
  Shape one = prior.image_shape();
  one.insert(one.begin(), 1);
  for (int64_t i = 0; i < count; ++i)
    for (int64_t j = i + 1; j < count; ++j) {
      const auto &a = prior.components()[i].mean, &b = prior.components()[j].mean;
      double low = 0, high = 1;
      for (int round = 0; round < 50; ++round) {
        const double t = (low + high) / 2;
        const auto r = prior.responsibilities((a + t * (b - a)).reshape(one), sigma)[0];
        (r[i].item<double>() > r[j].item<double>() ? low : high) = t;
      }
      points.push_back((a + low * (b - a)).reshape(one));
    }
  return points;
}

/// |S(x, sigma) - S(x, 0)| / sigma over the chains, where the score is known without smoothing.
void measure_mismatch(const Problem& problem, const Tensor& x, double sigma, Pilot& pilot) {
  const auto& score = exact_score(*problem.posterior.prior);
  if (sigma == 0 || score.sigma_range().low > 0) return;
  const auto difference = norm_per_chain(score.score(x, sigma) - score.score(x, 0));
  if (difference.isfinite().all().item<bool>()) raise(pilot.C, root_mean_square(difference) / sigma);
}

}  // namespace

Level measure_level(const Problem& problem, const Tensor& chain_points, double sigma, const PilotOptions& options) {
  std::vector<Tensor> points{chain_points};
  const Cursor at{problem.seed, 0, 0};
  if (const auto draws = problem.posterior.prior->draw(options.points, at))
    points.push_back(*draws + sigma * normal(at, Stream::probe, *draws));
  if (const auto* mixture = analytic_prior(problem))
    for (const auto& point : between_modes(*mixture, sigma)) points.push_back(point);
  const auto found = theory::score_lipschitz(exact_score(*problem.posterior.prior), at::cat(points), sigma,
                                             {.max_iterations = 100, .tolerance = 1e-4, .seed = problem.seed});
  return {0, sigma, found.value, found.converged};
}

Pilot run_pilot(const Problem& problem, const PilotOptions& options) {
  const c10::NoGradGuard no_gradients;
  Pilot pilot;
  auto few = problem.plan;
  few.chains = problem.start.kind == Start::Kind::file ? std::min(options.chains, few.chains) : options.chains;
  auto state = problem.initial_state(few);
  const auto steps = std::min(options.steps, problem.plan.steps),
             settled = settled_at(*problem.sampler, problem.plan.steps);
  const auto spacing = std::max<int64_t>(1, settled / std::max<int64_t>(1, options.levels - 1));
  const auto mismatch_every = std::max<int64_t>(1, steps / 64);
  const auto some = [&] { return state.x.narrow(0, 0, std::min(options.points, few.chains)).clone(); };
  pilot.points = some();
  const auto add_level = [&](int64_t k) {
    auto level = measure_level(problem, pilot.points, problem.sampler->annealing(k).sigma, options);
    level.k = k;
    pilot.levels.push_back(level);
  };
  for (; pilot.steps < steps && !pilot.diverged; ++pilot.steps) {
    const auto k = pilot.steps;
    if (k < settled && k % spacing == 0) add_level(k);
    if (k % mismatch_every == 0) measure_mismatch(problem, state.x, problem.sampler->annealing(k).sigma, pilot);
    const auto info = problem.sampler->step(state);
    raise(pilot.R_g, root_mean_square(info.grad_norm));
    raise(pilot.R_s, root_mean_square(info.score_norm));
    pilot.diverged = !(state.x.abs().max().item<double>() < problem.plan.divergence_limit);
    if (!pilot.diverged) pilot.points = some();
  }
  // What the pilot did not reach is measured where it ended.
  for (int64_t k = (pilot.steps + spacing - 1) / spacing * spacing; k < settled; k += spacing) add_level(k);
  add_level(settled);
  return pilot;
}

}  // namespace penumbra::app
