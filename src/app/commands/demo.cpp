/// penumbra demo: the main job on embedded defaults. A measurement is simulated, the posterior sampled with a shipped
/// prior, compared with the truth and reported; nothing is downloaded.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <nlohmann/json.hpp>

#include "app/command.h"
#include "app/demo/scene.h"
#include "app/evaluate_run.h"
#include "app/own_folder.h"
#include "app/sample_run.h"
#include "core/error.h"
#include "io/file.h"
#include "io/fits_reader.h"
#include "io/npy.h"

namespace penumbra::app {
namespace {

namespace fs = std::filesystem;

struct Options {
  fs::path out = "demo";
  std::string scene;
  bool quick = false;
  std::optional<uint64_t> seed;
  bool resume = false;
  MachineOptions machine;
};

/// Without CFITSIO the black hole's data could be neither written nor read. What is resumed is what was begun.
const DemoScene& scene_of(const Options& options) {
  const bool begun = options.resume && fs::exists(options.out / "inputs" / "mask.npy");
  const bool brain = options.scene.empty() ? begun || !io::reads_fits() : options.scene == "brain";
  return brain ? brain_scene() : blackhole_scene();
}

int run_demo(const Options& options) {
  const auto& scene = scene_of(options);
  const uint64_t seed = options.seed.value_or(scene.seed);
  const auto inputs = options.out / "inputs";
  if (!options.resume && fs::exists(options.out / "config.yaml"))
    input_error("{}: already holds a run; choose another --out, or --resume", options.out.string());
  const auto template_path = options.out / "demo.yaml";
  const RunPlace place{
      .folder = options.out, .resume = options.resume ? Resume::yes : Resume::no, .prepared = {"demo.yaml", "inputs"}};
  // It is written first, and says that the inputs beside it are a demo's.
  require_place_of_run(options.out, fs::exists(template_path) ? place.prepared : std::vector<std::string>{});
  const auto configuration = scene.configuration(options.quick, seed);
  if (fs::exists(options.out / "config.yaml") &&
      (!fs::exists(template_path) || io::read_file(template_path) != configuration))
    input_error("{}: expected a demo that this command began; --resume needs the same --scene, --seed and --quick",
                options.out.string());
  io::require_writable(options.out, uint64_t{64} << 20);
  io::write_file(template_path, configuration);
  fs::create_directories(inputs);
  // The configuration appears after its inputs, so without it they may be half written.
  if (!fs::exists(options.out / "config.yaml")) scene.write_inputs(inputs, seed);
  ConfigOptions config;
  config.path = template_path;
  config.machine = options.machine;
  const auto problem = load_problem(config);
  const int code = sample_run(problem, place);
  if (code != success) return code;
  const auto truth = inputs / "truth.npy";
  print_metrics(evaluate_run(options.out, io::read_npy(truth), truth.string()));
  fmt::print("\nreport: {}\n", fs::absolute(options.out / "report.html").lexically_normal().string());
  return success;
}

std::function<int()> declare(CLI::App& command) {
  auto options = std::make_shared<Options>();
  command.add_option("--out", options->out, "folder of the run (default: demo)");
  command
      .add_option(
          "--scene", options->scene,
          "blackhole: one like M87's, from closures alone (the default, needs CFITSIO); brain: a slice of which "
          "half of the pixels were measured, and none in a hole")
      ->check(CLI::IsMember({"blackhole", "brain"}));
  command.add_flag("--quick", options->quick, "fewer chains and steps: a look, not a result");
  command.add_flag("--resume", options->resume, "continue a demo that was interrupted");
  add_seed_option(command, options->seed);
  add_machine_options(command, options->machine);
  return [options] { return run_demo(*options); };
}

}  // namespace

extern const CommandEntry demo{"demo", "simulate, sample and report with nothing to download", declare};

}  // namespace penumbra::app
