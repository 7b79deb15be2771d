/// penumbra bench: what a step costs on this machine, part by part; and what a network does, alone or in a step.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <nlohmann/json.hpp>

#include "app/bench/benches.h"
#include "app/bench/measure.h"
#include "app/command.h"
#include "app/options.h"
#include "core/error.h"
#include "core/named.h"
#include "likelihoods/gaussian.h"
#include "priors/network.h"
#include "priors/random_field.h"
#include "samplers/pmc.h"

namespace penumbra::app {
namespace {

struct Options {
  std::string what = "step";
  BenchOptions network;  ///< for a step, an empty prior is the built-in random field
  int64_t side = 64, chains = 16;
  MachineOptions machine;
};

std::shared_ptr<const Score> bench_prior(const Options& options, const Placement& placement) {
  const auto& prior = options.network.prior;
  if (!prior.prior.empty()) return load_prior(prior, placement);
  if (prior.compute) input_error("--compute: expected a network, by --prior");
  if (!prior.arch.empty()) input_error("--arch: expected network, iteration or train before it, or a --prior");
  RandomFieldOptions field;
  field.side = options.side;
  field.modes = std::min(field.modes, field.side);
  return random_field(field, placement);
}

/// In which type a network computes; what everything else does.
std::string compute_of(const Score& prior) { return network_compute(prior).value_or("float32"); }

/// Of the score at one fixed image: another program can check that it timed the same function.
double score_norm(const Score& prior, const Placement& placement) {
  Shape shape = prior.image_shape();
  shape.insert(shape.begin(), 1);
  const auto ramp = at::linspace(-1, 1, element_count(shape), at::TensorOptions().dtype(at::kFloat)).reshape(shape);
  return prior.score(place(ramp, placement), 0.3).to(at::kDouble).norm().item<double>();
}

int bench_step(const Options& options, const Placement& placement) {
  c10::NoGradGuard no_gradients;
  const auto prior = bench_prior(options, placement);
  auto settings = Settings::from_text("{fraction: 0.3}", "bench");
  std::shared_ptr<const ForwardModel> A =
      find_named(forward_model_entries(), "inpainting")->make(settings, prior->image_shape(), placement);
  const auto x = bench_images(*prior, options.chains, placement);
  const auto g = std::make_shared<GaussianLikelihood>(A, A->apply(x.narrow(0, 0, 1))[0], 0.1);
  const AnnealedPmc sampler({g, prior}, 1,
                            {.discretization = Discretization::pnp,
                             .gamma = 1e-4,
                             .schedule = std::make_shared<ConstantSchedule>(Annealing{0.05, 1})});
  const auto milliseconds = [&](const std::function<void()>& work) {
    return measure(placement.device, options.network.seconds, work).median;
  };
  int64_t k = 0;
  const auto draw = [&] { normal({1, 0, k++}, Stream::langevin, x); };
  const auto step = [&] {
    ChainState state{x, k++, 0};
    sampler.step(state);
  };
  const std::vector<std::pair<std::string, double>> rows{{"noise", milliseconds(draw)},
                                                         {"torch randn", milliseconds([&] { at::randn_like(x); })},
                                                         {"likelihood gradient", milliseconds([&] { g->grad(x); })},
                                                         {"score", milliseconds([&] { prior->score(x, 0.05); })},
                                                         {"whole step (apmc-pnp)", milliseconds(step)}};
  if (options.network.json) {
    nlohmann::json table{{"device", placement.device.str()},
                         {"chains", options.chains},
                         {"side", x.size(3)},
                         {"compute", compute_of(*prior)},
                         {"score_norm", score_norm(*prior, placement)}};
    for (const auto& [name, time] : rows) table["milliseconds"][name] = time;
    fmt::print("{}\n", table.dump(2));
    return success;
  }
  fmt::print("{} chains of {}, {}, {}: median milliseconds\n", options.chains, describe(prior->image_shape()),
             compute_of(*prior), placement.device.str());
  for (const auto& [name, time] : rows) fmt::print("  {:<24} {:>10.3f}\n", name, time);
  return success;
}

int run_bench(const Options& options) {
  const Placement placement{at::kFloat, use_machine(options.machine)};
  if (options.what == "step") return bench_step(options, placement);
  (options.what == "network"     ? bench_network_alone
   : options.what == "iteration" ? bench_iteration
                                 : bench_training)(options.network, placement.device);
  return success;
}

std::function<int()> declare(CLI::App& command) {
  auto options = std::make_shared<Options>();
  command
      .add_option(
          "what", options->what,
          "step: its parts (default); network: one evaluation; iteration: whole steps beside the network alone; "
          "train: a training step")
      ->check(CLI::IsMember({"step", "network", "iteration", "train"}));
  add_prior_options(command, options->network.prior, "auto", false);
  command.get_option("--arch")->description(
      "paper-256, or a JSON or YAML file: the architecture, with random weights where there is no --prior");
  command.add_option("--batch", options->network.batch, "images of a network, an iteration or a training step")
      ->check(CLI::Range(1, 100000));
  command.add_option("--side", options->side, "height and width of a step's images")->check(CLI::Range(4, 256));
  command.add_option("--chains", options->chains, "number of chains of a step")->check(CLI::Range(1, 100000));
  command.add_option("--seconds", options->network.seconds, "time for each row")->check(CLI::PositiveNumber);
  command.add_flag("--json", options->network.json, "print JSON");
  add_machine_options(command, options->machine);
  return [options] { return run_bench(*options); };
}

}  // namespace

extern const CommandEntry bench{"bench", "measure what a step costs on this machine", declare};

}  // namespace penumbra::app
