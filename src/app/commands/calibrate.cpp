/// penumbra calibrate CONFIG.yaml --out FOLDER: are the uncertainties of this prior, likelihood and sampler right?
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "app/calibration/calibrate_run.h"
#include "app/command.h"

namespace penumbra::app {
namespace {

struct Options {
  ConfigOptions config;
  calibration::RunOptions run;
  std::optional<int64_t> simulations;
};

std::function<int()> declare(CLI::App& command) {
  auto options = std::make_shared<Options>();
  add_config_options(command, options->config, {"docs/calibration.md", "calibrate.simulations=400"});
  command.add_option("--out", options->run.out, "folder of the calibration; what it holds is not done again")
      ->required();
  command.add_option("--simulations", options->simulations, "truths drawn and sampled (default: 100)")
      ->check(CLI::Range(2, 1000000));
  command.add_flag("--require-calibrated", options->run.require_calibrated, "exit code 1 unless calibrated");
  command.add_flag("--json", options->run.json, "print calibration.json");
  return [options] {
    if (options->simulations)
      options->config.assignments.push_back(fmt::format("calibrate.simulations={}", *options->simulations));
    return calibration::calibrate_run(calibration::load_calibration(options->config), options->run);
  };
}

}  // namespace

extern const CommandEntry calibrate{"calibrate", "check a sampler's uncertainties on simulated data", declare};

}  // namespace penumbra::app
