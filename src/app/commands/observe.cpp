/// penumbra observe CONFIG.yaml --truth x --out y: simulates a measurement, with the configuration's likelihood as NPY,
/// or, where it has a section `observation`, with that interferometer as UVFITS.
#include <ATen/ATen.h>
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "app/command.h"
#include "app/sky_observation.h"
#include "app/wiring.h"
#include "core/error.h"
#include "io/image.h"
#include "io/npy.h"
#include "vlbi/uvfits.h"

namespace penumbra::app {
namespace {

struct Options {
  ConfigOptions config;
  std::filesystem::path truth, out;
  std::vector<double> png_range{-1, 1};
};

int observe_sky(const Options& options, Settings settings) {
  auto section = settings.section("observation");
  const auto observation = simulate_sky(section, options.truth, seed_setting(settings));
  vlbi::write_uvfits(options.out, observation);
  fmt::print("{}: {} visibilities of {} stations\n", options.out.string(), observation.visibilities.size(),
             observation.stations.size());
  return success;
}

int observe_truth(const Options& options) {
  if (auto settings = load_settings(options.config); settings.has("observation")) return observe_sky(options, settings);
  const auto measurement = load_measurement(options.config);
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
  command.add_option("--truth", options->truth, "the image to measure: NPY, PNG, JPEG or FITS")->required();
  command.add_option("--png-range", options->png_range, "values of a PNG's black and white")->expected(2);
  command.add_option("--out", options->out, "the measurement, NPY; UVFITS for an interferometer")->required();
  return [options] { return observe_truth(*options); };
}

}  // namespace

extern const CommandEntry observe{"observe", "simulate a measurement", declare};

}  // namespace penumbra::app
