#include "app/experiments/weights/plane.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/experiments/validation_2d/block_likelihood.h"
#include "app/experiments/validation_2d/evaluation.h"
#include "app/experiments/validation_2d/setting.h"
#include "likelihoods/gaussian.h"
#include "models/dense.h"
#include "priors/inexact.h"
#include "run/start.h"
#include "samplers/pmc.h"

namespace penumbra::app::weights {
namespace {

constexpr double noisy_eps = 2.5;  // the experiment's default
constexpr double no_error = 0;

/// The last iterates of APMC-RED as in Table 2, [posteriors, chains, 1, 1, 2].
Tensor sample(const validation_2d::Problem& problem, const PlaneEffort& effort, double eps_max, uint64_t seed) {
  const auto& shape = problem.prior->image_shape();
  std::shared_ptr<const Score> score = problem.prior;
  if (eps_max > no_error) score = std::make_shared<InexactScore>(problem.prior, eps_max);
  const Posterior posterior{
      std::make_shared<validation_2d::BlockLikelihood>(shape, problem.A, problem.y, problem.beta, effort.chains),
      score};
  const validation_2d::Configuration configuration{.discretization = Discretization::red};
  const AnnealedPmc sampler(posterior, seed,
                            {.discretization = Discretization::red,
                             .gamma = configuration.gamma,
                             .schedule = validation_2d::schedule(configuration)});
  Start start;
  start.low = -50, start.high = 50;
  auto state = initial_state(start, *problem.prior, seed, 0, effort.posteriors * effort.chains, {});
  while (state.k < effort.steps) sampler.step(state);
  return state.x.view({effort.posteriors, effort.chains, 1, 1, 2});
}

double kl(const Case& c, double weight) {
  return validation_2d::weight_divergence({weight, 1 - weight}, {c.exact_weight(), 1 - c.exact_weight()});
}

}  // namespace

std::vector<PlanePair> weigh_plane(const PlaneEffort& effort, uint64_t seed) {
  const c10::NoGradGuard no_gradients;
  const auto problem = validation_2d::make_problem(effort.posteriors);
  const auto exact = sample(problem, effort, no_error, seed), noisy = sample(problem, effort, noisy_eps, seed);
  std::vector<PlanePair> pairs;
  for (int64_t r = 0; r < effort.posteriors; ++r) {
    const Posterior posterior{
        std::make_shared<GaussianLikelihood>(std::make_shared<DenseModel>(problem.prior->image_shape(), problem.A[r]),
                                             problem.y, problem.beta),
        problem.prior};
    const theory::ScoreField score = [&](const Tensor& x) { return posterior.score(x, 0); };
    const auto mixture = condition(*problem.prior, problem.A[r], problem.y, problem.beta).posterior;
    const auto name = fmt::format("{}", r + 1);
    pairs.push_back({weigh(name, score, exact[r], *mixture, seed), weigh(name, score, noisy[r], *mixture, seed)});
  }
  return pairs;
}

double largest_miss(const std::vector<PlanePair>& pairs, Case PlanePair::*which) {
  double largest = 0;
  for (const auto& pair : pairs)
    largest = std::max(largest, std::abs((pair.*which).weight() - (pair.*which).exact_weight()));
  return largest;
}

TextTable weights_table(const std::vector<PlanePair>& pairs) {
  TextTable table{{"posterior", "exact weight", "counts", "odds", "error bar", "counts, noisy", "odds, noisy",
                   "error bar, noisy", "gap", "effective", "closed loops", "evaluations", "trusted"},
                  {}};
  // Of w = 1/(1 + e^-u).
  const auto bar = [](const Case& c) { return fmt::format("{:.4f}", c.weight() * (1 - c.weight()) * c.error); };
  for (const auto& [exact, noisy] : pairs) {
    if (!exact.known() || !noisy.known()) {
      std::vector<std::string> row(table.header.size());
      row.front() = exact.name, row.back() = "not two modes";
      table.rows.push_back(row);
      continue;
    }
    const auto& pair = noisy.odds.pairs[0];
    table.rows.push_back({exact.name, fmt::format("{:.4f}", exact.exact_weight()), fmt::format("{:.3f}", exact.share),
                          fmt::format("{:.4f}", exact.weight()), bar(exact), fmt::format("{:.3f}", noisy.share),
                          fmt::format("{:.4f}", noisy.weight()), bar(noisy), fmt::format("{:.1e}", pair.bennett.gap),
                          fmt::format("{:.0f}", pair.bennett.effective), fmt::format("{:.1e}", pair.loop_rms),
                          fmt::format("{}", noisy.odds.evaluations),
                          exact.odds.trusted && noisy.odds.trusted ? "yes" : "no"});
  }
  return table;
}

TextTable plane_summary(const std::vector<PlanePair>& pairs) {
  struct Method {
    std::string name;
    Case PlanePair::*which;
    bool odds;
  };
  TextTable table{{"method", "KL of the weights", "largest miss"}, {}};
  for (const auto& [name, which, odds] : {Method{"counts", &PlanePair::exact, false},
                                          {"counts, noisy score", &PlanePair::noisy, false},
                                          {"odds", &PlanePair::exact, true},
                                          {"odds, noisy sampling", &PlanePair::noisy, true}}) {
    double sum = 0, largest = 0;
    for (const auto& pair : pairs) {
      const auto& c = pair.*which;
      const double w = odds ? c.weight() : c.share;
      sum += kl(c, w) / static_cast<double>(pairs.size());
      largest = std::max(largest, std::abs(w - c.exact_weight()));
    }
    table.rows.push_back({name, fmt::format("{:.2g}", sum), fmt::format("{:.4f}", largest)});
  }
  return table;
}

}  // namespace penumbra::app::weights
