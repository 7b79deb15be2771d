#include <ATen/ATen.h>
#include <fmt/format.h>

#include "app/calibration/calibrate_run.h"
#include "likelihoods/simulated.h"

namespace penumbra::app::calibration {
namespace {

/// Whether simulations can share a batch of chains: each chain has its own data and nothing else in common.
bool can_share(const Problem& problem, const Likelihood& likelihood) {
  return takes_many_measurements(likelihood) && problem.sampler->shared_count(problem.plan.chains) == 0;
}

/// As many chains as keep the processor busy, but not all simulations at once: what is unfinished when the program is
/// stopped is lost.
int64_t usual_batch(const Problem& problem, int64_t simulations) {
  const auto pixels = element_count(problem.posterior.image_shape());
  const int64_t budget = problem.placement.device.is_cpu() ? int64_t{1} << 18 : int64_t{1} << 24;
  const auto rows = budget / pixels / (problem.sampler->keeps_layers() ? 4 : 1);
  return std::clamp<int64_t>(rows / problem.plan.chains, 1, (simulations + 3) / 4);
}

Plan read_plan(Settings section, const Problem& problem, const Likelihood& likelihood) {
  Plan plan;
  plan.simulations = section.integer("simulations", plan.simulations, {2, 1e6});
  plan.statistics = statistics_setting(section, problem.posterior.image_shape(), likelihood.has_data());
  const auto recorded = problem.plan.steps - problem.plan.record_from;
  plan.draws_per_chain = section.integer("draws_per_chain", 1, {1, static_cast<double>(recorded)});
  plan.truth_steps = section.integer("truth_steps", plan.truth_steps, {2, 10000});
  const bool together = can_share(problem, likelihood);
  plan.batch = section.integer("batch", together ? usual_batch(problem, plan.simulations) : 1, {1, 1e6});
  if (!together && plan.batch > 1)
    section.fail("batch", fmt::format("expected 1: all chains of {} with {} must have the same data, found {}",
                                      problem.sampler_kind, problem.likelihood_kind, plan.batch));
  constexpr double chain_numbers = 4294967295.0;
  const double last = static_cast<double>(problem.plan.first_chain) +
                      static_cast<double>(plan.simulations) * static_cast<double>(problem.plan.chains);
  if (last > chain_numbers)
    section.fail("simulations",
                 fmt::format("expected simulations x chains below {:.0f}, found {:.0f}", chain_numbers, last));
  return plan;
}

}  // namespace

Calibrated load_calibration(const ConfigOptions& options) {
  auto settings = load_settings(options);
  Subject subject;
  const auto make = [&](Settings& section, const Problem& problem) {
    subject.prior = problem.posterior.prior;
    subject.placement = problem.placement;
    subject.seed = problem.seed;
    subject.likelihood = make_likelihood(section, subject.prior->image_shape(), subject.placement, Purpose::simulate);
    // A few steps are enough for data of the right size.
    const auto truth = draw_truths(subject, 1, 16);
    if (!truth) section.fail("kind", "expected a prior whose draws do not diverge: there is nothing to measure");
    return given_simulated(subject.likelihood, place(*truth, subject.placement), 1, {truth_seed(subject.seed), 0, 0});
  };
  auto problem = begin_problem(settings, options.machine, make);
  if (!problem.entry->random)
    settings.section("sampler").fail("kind", fmt::format("{}: expected a sampler with random draws; a deterministic "
                                                         "answer has no uncertainty to calibrate",
                                                         problem.sampler_kind));
  const auto plan = read_plan(settings.section("calibrate"), problem, *subject.likelihood);
  end_problem(problem, settings);
  subject.draws_per_chain = plan.draws_per_chain;
  subject.start = problem.start;
  subject.plan = problem.plan;
  subject.sampler = [text = problem.resolved, entry = problem.entry, seed = problem.seed,
                     steps = problem.plan.steps](const Posterior& posterior) -> std::shared_ptr<const Sampler> {
    auto sampler = Settings::from_text(text, "config.yaml").section("sampler");
    return entry->make(sampler, {posterior, seed, steps});
  };
  return {std::move(problem), std::move(subject), plan};
}

}  // namespace penumbra::app::calibration
