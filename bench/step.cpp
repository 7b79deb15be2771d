/// What an APMC step costs outside the score and the likelihood: 16 chains of 64x64 in a run with its statistics.
///
/// The reference is a score that takes 20 ms an image, the size of a small network on a CPU: 320 ms a step. The target
/// is under 5 % of that.
#include <ATen/ATen.h>
#include <benchmark/benchmark.h>

#include "likelihoods/likelihood.h"
#include "ratio.h"
#include "run/chain_run.h"
#include "samplers/pmc.h"

namespace penumbra {
namespace {

constexpr double reference_s = 16 * 0.020;

/// Score and likelihood that cost nothing: they hand back a tensor that is there already.
class FreeScore final : public Score {
 public:
  FreeScore() : Score({1, 64, 64}), answer_(at::zeros({16, 1, 64, 64})) {}

 private:
  Tensor do_score(const Tensor&, double, const Cursor&) const override { return answer_; }
  Tensor answer_;
};

class FreeLikelihood final : public Likelihood {
 public:
  FreeLikelihood() : Likelihood({1, 64, 64}), answer_(at::zeros({16, 1, 64, 64})) {}
  std::vector<Misfit> misfit(const Tensor&) const override { return {}; }
  Tensor simulate(const Tensor& x, const Cursor&) const override { return x; }

 private:
  Tensor do_value(const Tensor& x) const override { return x.new_zeros({x.size(0)}); }
  Tensor do_grad(const Tensor&) const override { return answer_; }
  Tensor answer_;
};

void step(benchmark::State& state) {
  const Posterior posterior{std::make_shared<FreeLikelihood>(), std::make_shared<FreeScore>()};
  const auto schedule = std::make_shared<GeometricSchedule>(GeometricSchedule::Options{.sigma_0 = 10, .alpha_0 = 1e4});
  const AnnealedPmc sampler(posterior, 1, {.discretization = Discretization::pnp, .gamma = 1e-5, .schedule = schedule});
  const int64_t steps = 200;
  double total = 0;
  for (auto _ : state) {
    // Every iterate is recorded and traced: the dearest a run can be.
    RunPlan plan;
    plan.steps = steps;
    plan.chains = 16;
    ChainRun run(plan, posterior, sampler, {at::zeros({16, 1, 64, 64})});
    const double now = bench::seconds([&] { run.run(); }) / static_cast<double>(steps);
    state.SetIterationTime(now);
    total += now;
  }
  state.counters["share_of_320ms_step"] = total / static_cast<double>(state.iterations()) / reference_s;
}
BENCHMARK(step)->Name("step/outside_score_and_likelihood")->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace penumbra
