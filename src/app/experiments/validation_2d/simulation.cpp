#include "app/experiments/validation_2d/simulation.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <utility>

#include "app/experiments/validation_2d/block_likelihood.h"
#include "priors/inexact.h"
#include "run/start.h"
#include "samplers/pmc.h"

namespace penumbra::app::validation_2d {
namespace {

class Stopwatch {
 public:
  /// Seconds since the last call.
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    return std::chrono::duration<double>(now - std::exchange(last_, now)).count();
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace

Course simulate(const Problem& problem, const Effort& effort, const Configuration& configuration, uint64_t seed) {
  const c10::NoGradGuard no_gradients;
  const auto& shape = problem.prior->image_shape();
  const Posterior posterior{std::make_shared<BlockLikelihood>(shape, problem.A, problem.y, problem.beta, effort.chains),
                            std::make_shared<InexactScore>(problem.prior, configuration.eps_max)};
  const AnnealedPmc sampler(posterior, seed,
                            {.discretization = configuration.discretization,
                             .gamma = configuration.gamma,
                             .schedule = schedule(configuration)});
  // float64: iterates pass 1e73 before they contract.
  Start start;
  start.low = -50, start.high = 50;
  auto state = initial_state(start, *problem.prior, seed, 0, effort.posteriors * effort.chains, {});

  Course course;
  course.configuration = configuration;
  Stopwatch stopwatch;
  while (state.k < effort.steps) {
    sampler.step(state);
    course.largest = std::max(course.largest, state.x.abs().max().item<double>());
    if (!effort.evaluates(state.k)) continue;
    course.sampling_s += stopwatch.lap();
    course.k.push_back(state.k);
    course.at.push_back(distances(state.x.view({effort.posteriors, effort.chains, -1}), problem.posteriors));
    course.evaluating_s += stopwatch.lap();
  }
  course.sampling_s += stopwatch.lap();
  return course;
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

size_t Curve::least() const {
  // A comparison with NaN is false, so the unknown ones must count as larger than any other.
  const auto less = [](double a, double b) { return a < b || (std::isnan(b) && !std::isnan(a)); };
  return static_cast<size_t>(std::min_element(mean.begin(), mean.end(), less) - mean.begin());
}

Curve curve(const Course& course, std::vector<double> Distances::*quantity) {
  Curve curve;
  for (size_t i = 0; i < course.k.size(); ++i) {
    const auto& values = course.at[i].*quantity;
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    curve.k.push_back(static_cast<double>(course.k[i]));
    curve.mean.push_back(mean_of(values));
    const bool known = !std::isnan(curve.mean.back());
    curve.low.push_back(known ? *low : NAN);
    curve.high.push_back(known ? *high : NAN);
  }
  return curve;
}

}  // namespace penumbra::app::validation_2d
