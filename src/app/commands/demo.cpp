/// penumbra demo: the main job on embedded defaults. A slice is drawn from the shipped prior brain-64, one pixel in two
/// is measured with noise and none in a hole, the posterior is sampled and reported; nothing is downloaded.
#include <ATen/ATen.h>
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <nlohmann/json.hpp>

#include "app/command.h"
#include "app/evaluate_run.h"
#include "app/generation.h"
#include "app/sample_run.h"
#include "core/error.h"
#include "io/file.h"
#include "io/npy.h"

namespace penumbra::app {
namespace {

namespace fs = std::filesystem;

constexpr auto prior_section = "{kind: network, name: brain-64}";

constexpr auto configuration =
    R"(# penumbra demo: an image of which one pixel in two was measured, and none in a round hole.
prior: {prior}
likelihood:
  kind: inpainting
  mask: inputs/mask.npy
  noise_sd: {noise_sd}
  data: inputs/y.npy
sampler:
  kind: apmc-pnp
  steps: {steps}
  step_size: 2e-3
  # alpha_0 sigma_min^2 = 1: the prior has its own weight once sigma has fallen.
  schedule: {{kind: geometric, sigma_0: 2, sigma_min: 0.08, xi: 0.97, alpha_0: 156.25}}
  start: {{kind: uniform, low: -1, high: 1}}
chains: {chains}
seed: {seed}
output: {{observation: inputs/observation.npy}}
)";

constexpr double noise_sd = 0.2;

struct Options {
  fs::path out = "demo";
  bool quick = false;
  std::optional<uint64_t> seed;
  bool resume = false;
  MachineOptions machine;
};

/// True but for a round hole beside the centre, where nothing is measured: there the SD must grow.
Tensor outside_hole(int64_t side) {
  const auto axis = at::arange(side, at::TensorOptions().dtype(at::kDouble)) / static_cast<double>(side);
  const auto x = (axis - 0.62).square(), y = (axis - 0.4).square();
  return y.unsqueeze(1) + x.unsqueeze(0) > 0.1 * 0.1;
}

/// A draw of the prior. In float32, so that machines with and without bfloat16 have the same truth, to rounding.
Tensor draw_truth(uint64_t seed) {
  auto settings = Settings::from_text(prior_section, "demo");
  settings.assign("compute=float32");
  const Placement placement{at::kFloat, at::kCPU};
  const auto prior = make_prior(settings, placement);
  Generation how;
  how.count = how.batch = 1;
  how.sigma_min = prior->sigma_range().low;
  how.seed = seed;
  return generate_images(prior, how, placement).images;
}

/// The truth, its measurement, and a picture of the measurement.
void write_inputs(const fs::path& folder, uint64_t seed) {
  const auto truth = draw_truth(seed).to(at::kDouble);
  const auto mask = (uniform({seed, 0, 0}, Stream::probe, truth) < 0.5).logical_and(outside_hole(truth.size(-1)));
  io::write_npy(folder / "mask.npy", mask[0].to(at::kByte));
  io::write_npy(folder / "truth.npy", truth[0]);
  auto settings =
      Settings::from_text(fmt::format("{{kind: inpainting, mask: mask.npy, noise_sd: {}}}", noise_sd), "demo", folder);
  const Shape shape(truth.sizes().begin() + 1, truth.sizes().end());
  const auto likelihood = make_likelihood(settings, shape, {at::kDouble, at::kCPU}, Purpose::simulate);
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
  // The configuration appears after its inputs, so without it they may be half written.
  if (!fs::exists(options.out / "config.yaml")) write_inputs(inputs, seed);
  const auto template_path = options.out / "demo.yaml";
  io::write_file(template_path,
                 fmt::format(configuration, fmt::arg("prior", prior_section), fmt::arg("noise_sd", noise_sd),
                             fmt::arg("steps", options.quick ? 200 : 800), fmt::arg("chains", options.quick ? 4 : 12),
                             fmt::arg("seed", seed)));
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
  command.add_flag("--quick", options->quick, "fewer chains and steps: a look, not a result");
  command.add_flag("--resume", options->resume, "continue a demo that was interrupted");
  add_seed_option(command, options->seed);
  add_machine_options(command, options->machine);
  return [options] { return run_demo(*options); };
}

}  // namespace

extern const CommandEntry demo{"demo", "simulate, sample and report with nothing to download", declare};

}  // namespace penumbra::app
