/// penumbra demo: the main job on embedded defaults. A source is drawn from the built-in prior, one pixel in four
/// is measured with noise, the posterior is sampled and reported; nothing is downloaded.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/command.h"
#include "app/evaluate_run.h"
#include "app/sample_run.h"
#include "core/error.h"
#include "io/file.h"
#include "io/npy.h"

namespace penumbra::app {
namespace {

namespace fs = std::filesystem;

/// One pixel in four of a 64x64 image, with noise.
constexpr auto configuration = R"(# penumbra demo: fill in an image of which one pixel in {one_in} was measured.
prior: {{kind: random_field, side: 64}}
likelihood:
  kind: inpainting
  mask: inputs/mask.npy
  noise_sd: 0.05
  data: inputs/y.npy
sampler:
  kind: apmc-pnp
  steps: 1500
  step_size: 5e-5
  schedule: {{kind: geometric, sigma_0: 2, sigma_min: 0.01, xi: 0.99, alpha_0: 10000}}
  start: {{kind: uniform, low: 0, high: 1}}
chains: 64
seed: {seed}
output: {{observation: inputs/observation.npy}}
)";

struct Options {
  fs::path out = "demo";
  std::optional<uint64_t> seed;
  bool resume = false;
  MachineOptions machine;
};

/// A draw of the prior, its measurement, and a picture of the measurement.
void write_inputs(const fs::path& folder, uint64_t seed) {
  const Placement placement{at::kDouble, at::kCPU};
  auto prior_settings = Settings::from_text("{kind: random_field, side: 64}", "demo");
  const auto prior = make_prior(prior_settings, placement);
  const auto truth = *prior->draw(1, {seed, 0, 0});
  constexpr double fraction = 0.25;
  const auto mask = uniform({seed, 0, 0}, Stream::probe, truth) < fraction;
  io::write_npy(folder / "mask.npy", mask[0].to(at::kByte));
  io::write_npy(folder / "truth.npy", truth[0]);
  auto likelihood_settings = Settings::from_text("{kind: inpainting, mask: mask.npy, noise_sd: 0.05}", "demo", folder);
  const auto likelihood = make_likelihood(likelihood_settings, prior->image_shape(), placement, Purpose::simulate);
  const auto y = likelihood->simulate(truth, {seed, 0, 0});
  io::write_npy(folder / "y.npy", y[0]);
  auto picture = at::full_like(truth, std::numeric_limits<double>::quiet_NaN());
  picture.masked_scatter_(mask, y);
  io::write_npy(folder / "observation.npy", picture[0]);
}

int run_demo(const Options& options) {
  const uint64_t seed = options.seed.value_or(7);
  const auto inputs = options.out / "inputs";
  if (!options.resume && fs::exists(options.out / "config.yaml"))
    input_error("{}: already holds a run; choose another --out, or --resume", options.out.string());
  io::require_writable(inputs, uint64_t{64} << 20);
  if (!fs::exists(inputs / "y.npy")) write_inputs(inputs, seed);
  const auto template_path = options.out / "demo.yaml";
  io::write_file(template_path, fmt::format(configuration, fmt::arg("one_in", 4), fmt::arg("seed", seed)));
  ConfigOptions config;
  config.path = template_path;
  config.machine = options.machine;
  const auto problem = load_problem(config);
  const int code = sample_run(problem, options.out, options.resume ? Resume::yes : Resume::no);
  if (code != success) return code;
  const auto truth = inputs / "truth.npy";
  print_metrics(evaluate_run(options.out, io::read_npy(truth), truth.string()));
  fmt::print("\nreport: {}\n", fs::absolute(options.out / "report.html").lexically_normal().string());
  return success;
}

std::function<int()> declare(CLI::App& command) {
  auto options = std::make_shared<Options>();
  command.add_option("--out", options->out, "folder of the run (default: demo)");
  command.add_flag("--resume", options->resume, "continue a demo that was interrupted");
  add_seed_option(command, options->seed);
  add_machine_options(command, options->machine);
  return [options] { return run_demo(*options); };
}

}  // namespace

extern const CommandEntry demo{"demo", "simulate, sample and report with nothing to download", declare};

}  // namespace penumbra::app
