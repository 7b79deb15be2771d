/// penumbra extrapolate RUN: the run again with half of its step size, in RUN/half-step, and both extrapolated to none.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <nlohmann/json.hpp>

#include "app/command.h"
#include "app/extrapolate_run.h"
#include "app/finished_run.h"
#include "app/run_files.h"
#include "app/sample_run.h"
#include "core/error.h"

namespace penumbra::app {
namespace {

namespace fs = std::filesystem;

struct Options {
  fs::path run;
  MachineOptions machine;
  bool json = false;
};

void print_extrapolation(const fs::path& run, const nlohmann::json& about) {
  const auto half = half_step_folder(run);
  fmt::print("of the run with half of the step size, {}:\n", half.string());
  print_summary(half);
  const auto& error = about["mean_error_in_sd"];
  fmt::print("extrapolated to step size 0 the mean moves by {:.2g} SD in the median pixel, by {:.2g} SD at most{}\n",
             about["mean_change_in_sd"].get<double>(), about["largest_mean_change_in_sd"].get<double>(),
             error.is_number() ? fmt::format(" (its Monte Carlo error: {:.2g} SD)", error.get<double>()) : "");
  fmt::print("the SD is {:.3g} times the run's in the median pixel; {:.3g} % of the pixels cannot be extrapolated\n",
             about["sd_factor"].get<double>(), 100 * about["unusable_share"].get<double>());
  for (const auto* name : {"mean.npy", "sd.npy"}) fmt::print("{}\n", (run / "extrapolated" / name).string());
}

int extrapolate_run(const Options& options) {
  ConfigOptions config{.path = options.run / "config.yaml", .assignments = {}, .seed = {}, .machine = options.machine};
  require_finished(options.run);
  config.assignments = halving_assignments(load_settings(config), config.path.string());
  const auto problem = load_problem(config);
  // An earlier attempt is continued: the second run is one like any other.
  const auto half = half_step_folder(options.run);
  const int code = sample_run(
      problem,
      {.folder = half, .resume = fs::exists(half / "config.yaml") ? Resume::yes : Resume::no, .say = Say::nothing});
  if (code == diverged)
    fmt::print(stderr, "penumbra: {}: the run with half of the step size diverged\n", half.string());
  if (code != success) return code;
  const auto about = write_extrapolation(options.run);
  if (options.json)
    fmt::print("{}\n", about.dump(2));
  else
    print_extrapolation(options.run, about);
  return success;
}

std::function<int()> declare(CLI::App& command) {
  auto options = std::make_shared<Options>();
  command.add_option("RUN", options->run, "folder of a finished run")->required();
  command.add_flag("--json", options->json, "print what changed as JSON");
  add_machine_options(command, options->machine);
  return [options] { return extrapolate_run(*options); };
}

}  // namespace

extern const CommandEntry extrapolate{"extrapolate", "repeat a run with half its step size and extrapolate to none",
                                      declare};

}  // namespace penumbra::app
