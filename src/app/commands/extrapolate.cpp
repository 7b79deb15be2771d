/// penumbra extrapolate RUN: the run again with half of its step size, in RUN/half-step, and both extrapolated to none.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <nlohmann/json.hpp>

#include "app/command.h"
#include "app/extrapolate_run.h"
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

int extrapolate_run(const Options& options) {
  ConfigOptions config{.path = options.run / "config.yaml", .assignments = {}, .seed = {}, .machine = options.machine};
  if (!fs::exists(options.run / "summary.json") || fs::exists(options.run / "checkpoint"))
    input_error("{}: expected the folder of a run that is complete", options.run.string());
  config.assignments = halving_assignments(load_settings(config), config.path.string());
  const auto problem = load_problem(config);
  // An earlier attempt is continued: the second run is one like any other.
  const auto half = half_step_folder(options.run);
  const int code = sample_run(problem, half, fs::exists(half / "config.yaml") ? Resume::yes : Resume::no);
  if (code != success) return code;
  const auto about = write_extrapolation(options.run);
  if (options.json) fmt::print("{}\n", about.dump(2));
  for (const auto* name : {"mean.npy", "sd.npy"})
    if (!options.json) fmt::print("{}\n", (options.run / "extrapolated" / name).string());
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
