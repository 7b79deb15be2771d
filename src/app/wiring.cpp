#include "app/wiring.h"

#include <CLI/CLI.hpp>

#include "app/presets.h"
#include "core/error.h"
#include "io/npy.h"

namespace penumbra::app {
namespace {

at::ScalarType precision_setting(Settings& sampler) {
  return sampler.choice("precision", {"float32", "float64"}, "float32") == "float64" ? at::kDouble : at::kFloat;
}

/// `chains: 50`, or a section with count, batch and first. A deterministic iteration needs one.
void read_chains(Settings& settings, const SamplerEntry& entry, RunPlan& plan) {
  constexpr Bounds count_bounds{1, 1e7};
  const int64_t otherwise = entry.random ? 16 : 1;
  if (!settings.is_section("chains")) {
    plan.chains = settings.integer("chains", otherwise, count_bounds);
    return;
  }
  auto chains = settings.section("chains");
  plan.chains = chains.integer("count", otherwise, count_bounds);
  plan.batch = chains.integer("batch", 0, {0, 1e7});
  plan.first_chain = chains.integer("first", 0, {0, 4294967295.0});
}

/// Iterates are recorded once the schedule has settled and half of the steps are done; of a method whose iterates are
/// no draws, the last one.
void read_output(Settings output, const Problem& problem, RunPlan& plan) {
  const auto settled = settled_at(*problem.sampler, plan.steps);
  const auto from =
      problem.entry->langevin ? std::min(plan.steps - 1, std::max(settled, plan.steps / 2)) : plan.steps - 1;
  const auto last = static_cast<double>(plan.steps - 1);
  plan.record_from = output.integer("record_from", from, {0, last});
  plan.record_every =
      output.integer("record_every", std::max<int64_t>(1, (plan.steps - plan.record_from) / 128), {1, 1e12});
  plan.trace_every = output.integer("trace_every", std::max<int64_t>(1, plan.steps / 400), {1, 1e12});
  plan.checkpoint_every_s = output.number("checkpoint_every_s", 60, not_negative);
  plan.checkpoint_every_steps = output.integer("checkpoint_every_steps", 0, {0, 1e12});
  plan.history_bytes = static_cast<int64_t>(output.number("history_megabytes", 256, positive) * 1048576);
}

/// Uniform noise, or the one that the sampler sets out from.
void put_start(Settings& sampler, const Sampler& made) {
  const auto sd = made.start_sd();
  if (!sd || !sampler.set_default("start.kind", "normal")) return;
  sampler.set_default("start.sd", fmt::format("{}", *sd));
}

/// The picture of the data, read now so that a wrong file is not found out after the last step.
std::filesystem::path observation_setting(Settings& output, const Shape& image_shape) {
  const auto path = output.file("observation");
  const auto picture = io::read_npy(path);
  if (picture.dim() < 2 || picture.dim() > 3 || picture.size(-1) != image_shape[2] ||
      picture.size(-2) != image_shape[1])
    input_error("{}: expected a picture of {}, as the image's, found {}", path.string(), describe(image_shape),
                describe(picture.sizes()));
  return path;
}

}  // namespace

Settings load_settings(const ConfigOptions& options) {
  auto settings = Settings::from_file(options.path);
  for (const auto& assignment : options.assignments) settings.assign(assignment);
  if (options.seed) settings.assign(fmt::format("seed={}", *options.seed));
  return settings;
}

uint64_t seed_setting(Settings& settings) {
  return static_cast<uint64_t>(settings.integer("seed", 0, {0, 9007199254740992.0}));
}

void add_config_options(CLI::App& command, ConfigOptions& options, const ConfigHelp& help) {
  command.add_option("CONFIG", options.path, fmt::format("configuration, a YAML file ({})", help.page))->required();
  command.add_option("--set", options.assignments, "override a key: --set " + help.example)->take_all();
  add_seed_option(command, options.seed);
  add_machine_options(command, options.machine);
}

void add_run_options(CLI::App& command, RunOptions& options, const ConfigHelp& help) {
  add_config_options(command, options.config, help);
  options.config.machine.team = true;
  command.add_option("--out", options.out, "folder of the run")->required();
  command.add_flag("--resume", options.resume, "continue a run that was interrupted");
}

ChainState Problem::initial_state(const RunPlan& part) const {
  auto own = start;
  if (own.image.defined() && own.image.size(0) > 1)
    own.image = own.image.narrow(0, part.first_chain - plan.first_chain, part.chains);
  return penumbra::initial_state(own, *posterior.prior, seed, part.first_chain, part.chains, placement);
}

Problem begin_problem(Settings& settings, const MachineOptions& machine, const MakeLikelihood& make) {
  Problem problem;
  problem.placement.device = use_machine(machine);
  problem.seed = seed_setting(settings);

  auto sampler = settings.section("sampler");
  problem.placement.precision = precision_setting(sampler);
  auto prior = settings.section("prior");
  problem.posterior.prior = make_prior(prior, problem.placement);
  problem.prior_kind = prior.text("kind");
  auto likelihood = settings.section("likelihood");
  problem.posterior.likelihood = make(likelihood, problem);
  problem.likelihood_kind = likelihood.text("kind");

  problem.entry = &sampler_entry(sampler);
  problem.sampler_kind = problem.entry->name;
  apply_preset(sampler, problem.sampler_kind);
  problem.derived = derive_defaults(sampler, *problem.entry, problem.posterior);
  problem.plan.steps = sampler.integer("steps", {1, 4294967295.0});
  problem.plan.divergence_limit = sampler.number("divergence_limit", problem.plan.divergence_limit, positive);
  problem.sampler = problem.entry->make(sampler, {problem.posterior, problem.seed, problem.plan.steps});
  read_chains(settings, *problem.entry, problem.plan);
  put_start(sampler, *problem.sampler);
  problem.start = start_setting(sampler.section("start"), problem.posterior.image_shape(), problem.plan.chains);
  auto output = settings.section("output");
  if (output.has("observation")) problem.observation = observation_setting(output, problem.posterior.image_shape());
  read_output(output, problem, problem.plan);
  problem.prior_sd = prior_sd_setting(output, problem.posterior.image_shape());
  problem.modes = modes_setting(settings, likelihood, problem.posterior.image_shape());
  return problem;
}

void end_problem(Problem& problem, Settings& settings) {
  // Of the commands of these names.
  for (const auto* section : {"observation", "calibrate"}) settings.ignore(section);
  settings.finish();
  problem.resolved = settings.resolved();
  problem.files = settings.files();
}

Problem load_problem(const ConfigOptions& options) {
  auto settings = load_settings(options);
  auto problem = begin_problem(settings, options.machine, [](Settings& likelihood, const Problem& of) {
    return make_likelihood(likelihood, of.posterior.image_shape(), of.placement);
  });
  end_problem(problem, settings);
  return problem;
}

Measurement load_measurement(const ConfigOptions& options) {
  auto settings = load_settings(options);
  Measurement measurement;
  measurement.placement = {at::kDouble, use_machine(options.machine)};
  measurement.seed = seed_setting(settings);
  auto prior = settings.section("prior"), likelihood = settings.section("likelihood");
  measurement.prior = make_prior(prior, measurement.placement);
  measurement.likelihood =
      make_likelihood(likelihood, measurement.prior->image_shape(), measurement.placement, Purpose::simulate);
  // The other sections belong to `sample`; what is wrong in these two must not go unnoticed here.
  prior.finish();
  likelihood.finish();
  measurement.files = settings.files();
  return measurement;
}

}  // namespace penumbra::app
