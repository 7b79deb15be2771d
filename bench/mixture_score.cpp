/// The mixture score against a plain eager LibTorch formulation: inverse covariances, one component at a time.
#include <ATen/ATen.h>
#include <benchmark/benchmark.h>
#include <c10/core/GradMode.h>

#include "priors/random_field.h"
#include "ratio.h"

namespace penumbra {
namespace {

constexpr double sigma = 0.1;

/// What one would write first: r_j from log densities with (S_j + sigma^2 I)^-1, prepared once for this sigma.
struct Eager {
  std::vector<Tensor> means, inverses;
  std::vector<double> constants;

  explicit Eager(const GaussianMixture& mixture) {
    for (const auto& [weight, mean, covariance] : mixture.components()) {
      const auto dense = covariance->dense() + sigma * sigma * at::eye(covariance->dimension(), mean.options());
      means.push_back(mean);
      inverses.push_back(at::linalg_inv(dense));
      constants.push_back(std::log(weight) - 0.5 * covariance->log_det(sigma));
    }
  }
  Tensor operator()(const Tensor& x) const {
    const auto rows = flat(x);
    std::vector<Tensor> logs, pulls;
    for (size_t j = 0; j < means.size(); ++j) {
      const auto difference = rows - means[j];
      pulls.push_back(difference.matmul(inverses[j]));
      logs.push_back(constants[j] - 0.5 * (difference * pulls[j]).sum(1));
    }
    const auto r = at::stack(logs, 1).softmax(1);
    return -(r.t().unsqueeze(2) * at::stack(pulls)).sum(0).view_as(x);
  }
};

void mixture_score(benchmark::State& state) {
  c10::NoGradGuard no_gradients;
  const auto side = state.range(0);
  const auto prior = random_field({.side = side}, {at::kFloat, at::kCPU});
  const auto x = *prior->draw(16, {1, 0, 0});
  const Eager eager(*prior);
  const auto difference = (eager(x) - prior->score(x, sigma)).norm() / prior->score(x, sigma).norm();
  state.counters["relative_difference"] = difference.item<double>();
  bench::compare(
      state, [&] { benchmark::DoNotOptimize(prior->score(x, sigma)); }, [&] { benchmark::DoNotOptimize(eager(x)); });
}
BENCHMARK(mixture_score)
    ->Name("mixture_score/penumbra_over_eager")
    ->Arg(32)
    ->Arg(64)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace penumbra
