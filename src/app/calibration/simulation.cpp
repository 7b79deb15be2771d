#include "app/calibration/simulation.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>

#include "app/generation.h"
#include "likelihoods/simulated.h"

namespace penumbra::app::calibration {
namespace {

/// Pixels as distances from their mean over the other truths in units of their SD. With its own truth among them a
/// simulation's coordinates would draw that truth inwards, and it would no longer be like one of the draws.
class Standardised {
 public:
  explicit Standardised(const Tensor& truths) {
    const auto pixels = flat(truths).to(at::kCPU, at::kDouble);
    mean_ = pixels.mean(0);
    centred_ = pixels - mean_;
    squares_ = centred_.square().sum(0);
  }
  /// x [rows, n] in the coordinates of simulation i.
  Tensor operator()(const Tensor& x, int64_t i) const {
    const auto N = static_cast<double>(centred_.size(0));
    const auto own = centred_[i];
    const auto variance = (squares_ - own.square() * (N / (N - 1))) / std::max(1.0, N - 2);
    // A pixel that is the same in all others, but for rounding, is compared as it is.
    const auto sd = at::where(variance > 1e-12 * squares_, variance, at::ones_like(variance)).sqrt();
    return (x - (mean_ - own / (N - 1))) / sd;
  }

 private:
  Tensor mean_, centred_, squares_;
};

/// The last iterates, and where more are asked for those at even distances back to where recording begins.
bool is_drawn(const Subject& subject, int64_t k) {
  const auto spacing = std::max<int64_t>(1, (subject.plan.steps - subject.plan.record_from) / subject.draws_per_chain);
  const auto back = subject.plan.steps - k;
  return back % spacing == 0 && back / spacing < subject.draws_per_chain;
}

RunPlan batch_plan(const Subject& subject, int64_t first, int64_t count) {
  auto plan = subject.plan;
  plan.chains *= count;
  plan.first_chain += first * subject.plan.chains;
  // Draws are taken here; the run's own records and traces would only cost time.
  plan.record_from = plan.steps - 1;
  plan.record_every = 1;
  plan.trace_every = plan.steps;
  // Chains of several simulations stand beside their data, all together.
  if (count > 1) plan.batch = 0;
  return plan;
}

ChainState initial(const Subject& subject, const RunPlan& plan, int64_t count) {
  auto start = subject.start;
  if (start.image.defined() && start.image.size(0) > 1) start.image = start.image.repeat({count, 1, 1, 1});
  return initial_state(start, *subject.prior, subject.seed, plan.first_chain, plan.chains, subject.placement);
}

}  // namespace

uint64_t truth_seed(uint64_t seed) { return seed ^ 0x7472757468730000; }

std::optional<Tensor> draw_truths(const Subject& subject, int64_t count, int64_t steps) {
  const auto seed = truth_seed(subject.seed);
  if (auto exact = subject.prior->draw(count, {seed, 0, 0})) return exact->cpu();
  const auto [low, high] = subject.prior->sigma_range();
  Generation how;
  how.count = count;
  how.steps = steps;
  how.batch = std::clamp<int64_t>((int64_t{1} << 18) / element_count(subject.prior->image_shape()), 1, count);
  how.sigma_max = std::clamp(how.sigma_max, low, high);
  how.sigma_min = std::clamp(how.sigma_min, low, high);
  how.seed = seed;
  c10::NoGradGuard no_gradients;
  const auto generated = generate_images(subject.prior, how, subject.placement);
  return generated.diverged ? std::nullopt : std::optional(generated.images);
}

Batch simulate(const Subject& subject, const Statistics& statistics, const Tensor& truths, int64_t first, int64_t count,
               const std::function<void(int64_t)>& after_step) {
  const auto seed = truth_seed(subject.seed);
  const auto chains = subject.plan.chains;
  const auto own = place(truths.narrow(0, first, count), subject.placement);
  const Posterior posterior{given_simulated(subject.likelihood, own, chains, {seed, first, 0}), subject.prior};
  const auto sampler = subject.sampler(posterior);
  const auto plan = batch_plan(subject, first, count);
  const auto values = [&](const Tensor& x) {
    c10::NoGradGuard no_gradients;
    return statistics(x, statistics.needs_likelihood() ? -posterior.likelihood->value(x) : Tensor());
  };
  const Standardised standardised(truths);
  std::vector<Tensor> found, pixels;  // of each time that draws are taken: [count, chains, statistics or pixels]
  ChainRun run(plan, posterior, *sampler, initial(subject, plan, count));
  run.after_step = [&](const ChainRun& now) {
    if (is_drawn(subject, now.state().k)) {
      const auto x = now.images();
      found.push_back(values(x).view({count, chains, -1}));
      pixels.push_back(flat(x).to(at::kCPU, at::kDouble).view({count, chains, -1}));
    }
    after_step(now.state().k);
  };
  Batch batch{run.run(), {}, run.seconds()};
  if (batch.outcome != Outcome::finished) return batch;

  const auto of_draws = at::cat(found, 1), drawn = at::cat(pixels, 1);
  // The likelihood stands beside the chains, so each truth takes the place of all of its chains.
  const auto of_truths = values(own.repeat_interleave(chains, 0)).view({count, chains, -1}).select(1, 0);
  const auto true_pixels = flat(own).to(at::kCPU, at::kDouble);
  const auto S = static_cast<int64_t>(statistics.names().size());
  for (int64_t i = 0; i < count; ++i) {
    const Cursor at{seed, first + i, 0};
    const auto chance = uniform(at, Stream::resample, at::empty({1, 2 * S + 1}, at::kDouble))[0];
    const auto reference = normal(at, Stream::probe, at::empty({1, true_pixels.size(1)}, at::kDouble))[0];
    batch.simulations.push_back(
        {first + i, diagnostics::standing(of_truths[i], of_draws[i], chance.narrow(0, 0, 2 * S).view({2, S})),
         diagnostics::tarp_place(standardised(true_pixels[i], first + i), standardised(drawn[i], first + i), reference,
                                 chance[2 * S].item<double>())});
  }
  return batch;
}

diagnostics::Standings collect(const std::vector<Simulation>& simulations, int64_t draws) {
  std::vector<Tensor> places, z;
  std::vector<double> tarp;
  for (const auto& simulation : simulations) {
    places.push_back(simulation.standing.place);
    z.push_back(diagnostics::standardised_error(simulation.standing, draws));
    tarp.push_back(simulation.tarp);
  }
  return {at::stack(places), at::stack(z), at::tensor(tarp, at::kDouble)};
}

}  // namespace penumbra::app::calibration
