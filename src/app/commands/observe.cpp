/// penumbra observe CONFIG.yaml --truth x --out y: simulates a measurement, with the configuration's likelihood as NPY,
/// or, where it has a section `observation`, with that interferometer as UVFITS.
#include <ATen/ATen.h>
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "app/command.h"
#include "app/sky_observation.h"
#include "app/wiring.h"
#include "core/error.h"
#include "io/file.h"
#include "io/image.h"
#include "io/npy.h"
#include "vlbi/uvfits.h"

namespace penumbra::app {
namespace {

namespace fs = std::filesystem;

struct Options {
  ConfigOptions config;
  fs::path truth, out;
  std::vector<double> png_range{-1, 1};
};

/// A measurement may replace an older one, but nothing that it was made from.
void require_other_than(const std::vector<fs::path>& inputs, const fs::path& out) {
  std::error_code none;
  for (const auto& input : inputs)
    if (fs::equivalent(input, out, none))
      input_error("--out: {}: expected another file than those that are read, found one of them", out.string());
}

int observe_sky(const Options& options, Settings settings) {
  auto section = settings.section("observation");
  const auto observation = simulate_sky(section, options.truth, seed_setting(settings));
  require_other_than(settings.files(), options.out);
  vlbi::write_uvfits(options.out, observation);
  fmt::print("{}: {} visibilities of {} stations\n", options.out.string(), observation.visibilities.size(),
             observation.stations.size());
  return success;
}

/// A file is what its name says.
void require_extension(const fs::path& out, bool is_sky) {
  const auto extension = out.extension();
  const bool is_uvfits = extension == ".uvfits" || extension == ".uvf" || extension == ".fits";
  if (is_sky && !is_uvfits)
    input_error(
        "--out: expected a file name that ends in .uvfits, where the configuration has a section observation, "
        "found {}",
        out.string());
  if (!is_sky && is_uvfits)
    input_error(
        "--out: {}: UVFITS needs a section observation in the configuration; without it expected a file name "
        "that ends in .npy",
        out.string());
  if (!is_sky && extension != ".npy")
    input_error("--out: expected a file name that ends in .npy, found {}", out.string());
}

int observe_truth(const Options& options) {
  auto settings = load_settings(options.config);
  const bool is_sky = settings.has("observation");
  require_extension(options.out, is_sky);
  io::require_writable_file(options.out, 1 << 20);
  require_other_than({options.config.path, options.truth}, options.out);
  if (is_sky) return observe_sky(options, settings);
  const auto measurement = load_measurement(options.config);
  require_other_than(measurement.files, options.out);
  const auto truth = io::read_image(options.truth, options.png_range.at(0), options.png_range.at(1));
  const auto& shape = measurement.likelihood->image_shape();
  if (truth.sizes() != at::IntArrayRef(shape))
    input_error("{}: expected an image of {}, as the prior's, found {}", options.truth.string(), describe(shape),
                describe(truth.sizes()));
  const auto x = place(truth.unsqueeze(0), measurement.placement);
  const auto y = measurement.likelihood->simulate(x, {measurement.seed, 0, 0}).squeeze(0);
  io::write_npy(options.out, y);
  fmt::print("{}: {} numbers\n", options.out.string(), y.numel());
  return success;
}

std::function<int()> declare(CLI::App& command) {
  auto options = std::make_shared<Options>();
  add_config_options(command, options->config);
  command.add_option("--truth", options->truth, "the image to measure: NPY, PNG, JPEG, FITS or ehtim's text")
      ->required();
  command.add_option("--png-range", options->png_range, "values of a PNG's black and white")->expected(2);
  command.add_option("--out", options->out, "the measurement, NPY; UVFITS for an interferometer")->required();
  return [options] { return observe_truth(*options); };
}

}  // namespace

extern const CommandEntry observe{"observe", "simulate a measurement", declare};

}  // namespace penumbra::app
