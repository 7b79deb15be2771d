/// penumbra certify CONFIG.yaml: the constants of Theorems 1-4, the steps they allow, the bound, and what it is worth.
#include <ATen/ATen.h>
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "app/certificate.h"
#include "app/command.h"
#include "app/exact_problem.h"

namespace penumbra::app {
namespace {

struct Options {
  ConfigOptions config;
  PilotOptions pilot;
  bool json = false;
};

/// An analytic prior costs little in double precision, and exact numbers deserve it.
Problem load_precisely(ConfigOptions config) {
  auto problem = load_problem(config);
  if (problem.placement.precision == at::kDouble || !analytic_prior(problem)) return problem;
  config.assignments.push_back("sampler.precision=float64");
  return load_problem(config);
}

int print_certificate(const Options& options) {
  const auto certificate = make_certificate(load_precisely(options.config), options.pilot);
  fmt::print("{}", options.json ? to_json(certificate).dump(2) + "\n" : to_text(certificate));
  return success;
}

std::function<int()> declare(CLI::App& command) {
  auto options = std::make_shared<Options>();
  add_config_options(command, options->config);
  command.add_flag("--json", options->json, "print JSON");
  command.add_option("--pilot-chains", options->pilot.chains, "chains that estimate what is not known exactly")
      ->check(CLI::Range(1, 100000));
  command.add_option("--pilot-steps", options->pilot.steps, "their steps, at most")->check(CLI::Range(1, 10000000));
  command.add_option("--levels", options->pilot.levels, "noise levels at which L_sigma is measured")
      ->check(CLI::Range(1, 1000));
  command.add_option("--points", options->pilot.points, "chains at which L_sigma is measured")
      ->check(CLI::Range(1, 10000));
  return [options] { return print_certificate(*options); };
}

}  // namespace

extern const CommandEntry certify{"certify", "what the convergence theorems say of a configuration", declare};

}  // namespace penumbra::app
