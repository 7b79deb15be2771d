#include "app/experiments/weights/plane.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "app/experiments/validation_2d/block_likelihood.h"
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

Posterior posterior_of(const validation_2d::Problem& problem, int64_t r) {
  return {std::make_shared<GaussianLikelihood>(std::make_shared<DenseModel>(problem.prior->image_shape(), problem.A[r]),
                                               problem.y, problem.beta),
          problem.prior};
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

std::vector<PlanePair> weigh_plane(const PlaneEffort& effort, uint64_t seed) {
  const c10::NoGradGuard no_gradients;
  const auto problem = validation_2d::make_problem(effort.posteriors);
  const auto begin = std::chrono::steady_clock::now();
  const auto exact = sample(problem, effort, no_error, seed), noisy = sample(problem, effort, noisy_eps, seed);
  const double seconds = seconds_since(begin) / 2 / static_cast<double>(effort.posteriors);
  std::vector<PlanePair> pairs;
  for (int64_t r = 0; r < effort.posteriors; ++r) {
    const auto posterior = posterior_of(problem, r);
    const theory::ScoreField score = [&](const Tensor& x) { return posterior.score(x, 0); };
    const auto mixture = condition(*problem.prior, problem.A[r], problem.y, problem.beta).posterior;
    const auto name = fmt::format("{}", r + 1);
    pairs.push_back({weigh(name, score, exact[r], *mixture, seed), weigh(name, score, noisy[r], *mixture, seed)});
    pairs.back().exact.sampling_seconds = pairs.back().noisy.sampling_seconds = seconds;
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

std::vector<MethodSummary> compare_plane(const std::vector<PlanePair>& pairs, const PlaneEffort& effort,
                                         const std::vector<Alternative>& alternatives, uint64_t seed) {
  struct Method {
    std::string name;
    Case PlanePair::*which;
    bool odds;
  };
  std::vector<MethodSummary> methods;
  for (const auto& [name, which, odds] : {Method{"counts", &PlanePair::exact, false},
                                          {"counts, noisy score", &PlanePair::noisy, false},
                                          {"odds", &PlanePair::exact, true},
                                          {"odds, noisy sampling", &PlanePair::noisy, true}}) {
    MethodSummary summary{name, {}};
    for (const auto& pair : pairs) {
      const auto& c = pair.*which;
      const double more = odds ? static_cast<double>(c.odds.evaluations) / static_cast<double>(effort.chains) : 0;
      summary.found.push_back({c.name, c.exact_weight(), odds ? c.weight() : c.share,
                               static_cast<double>(effort.steps) + more,
                               c.sampling_seconds + (odds ? c.odds_seconds : 0)});
    }
    methods.push_back(std::move(summary));
  }
  const auto problem = validation_2d::make_problem(static_cast<int64_t>(pairs.size()));
  for (const auto& alternative : alternatives) {
    MethodSummary summary{alternative.name, {}};
    for (int64_t r = 0; r < static_cast<int64_t>(pairs.size()); ++r) {
      const auto mixture = condition(*problem.prior, problem.A[r], problem.y, problem.beta).posterior;
      summary.found.push_back(try_alternative(alternative, fmt::format("{}", r + 1), posterior_of(problem, r), *mixture,
                                              seed + static_cast<uint64_t>(r)));
    }
    methods.push_back(std::move(summary));
  }
  return methods;
}

}  // namespace penumbra::app::weights
