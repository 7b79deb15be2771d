#include <ATen/ATen.h>
#include <fmt/format.h>

#include "app/demo/scene.h"
#include "app/generation.h"
#include "io/npy.h"
#include "likelihoods/likelihood.h"
#include "priors/score.h"

namespace penumbra::app {
namespace {

namespace fs = std::filesystem;

constexpr auto brain_prior = "{kind: network, name: brain-64}";
constexpr double noise_sd = 0.2;

constexpr auto brain_configuration =
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
  step_size: 1e-3
  # alpha_0 sigma_min^2 = 1: the prior has its own weight once sigma has fallen.
  schedule: {{kind: geometric, sigma_0: 2, sigma_min: 0.08, xi: 0.985, alpha_0: 156.25}}
  start: {{kind: uniform, low: -1, high: 1}}
chains: {chains}
seed: {seed}
output: {{observation: inputs/observation.npy}}
)";

/// True but for a round hole beside the centre, where nothing is measured: there the SD must grow.
Tensor outside_hole(int64_t side) {
  const auto axis = at::arange(side, at::TensorOptions().dtype(at::kDouble)) / static_cast<double>(side);
  const auto x = (axis - 0.62).square(), y = (axis - 0.4).square();
  return y.unsqueeze(1) + x.unsqueeze(0) > 0.1 * 0.1;
}

/// A draw of the prior. In float32, so that machines with and without bfloat16 have the same truth, to rounding.
Tensor draw_slice(uint64_t seed) {
  auto settings = Settings::from_text(brain_prior, "demo");
  settings.assign("compute=float32");
  const Placement placement{at::kFloat, at::kCPU};
  const auto prior = make_prior(settings, placement);
  Generation how;
  how.count = how.batch = 1;
  how.sigma_min = prior->sigma_range().low;
  how.seed = seed;
  return generate_images(prior, how, placement).images;
}

std::string brain_text(bool quick, uint64_t seed) {
  return fmt::format(brain_configuration, fmt::arg("prior", brain_prior), fmt::arg("noise_sd", noise_sd),
                     fmt::arg("steps", quick ? 400 : 1000), fmt::arg("chains", quick ? 2 : 10), fmt::arg("seed", seed));
}

/// The truth, its measurement, and a picture of the measurement.
void measure_slice(const fs::path& inputs, uint64_t seed) {
  const auto truth = draw_slice(seed).to(at::kDouble);
  const auto mask = (uniform({seed, 0, 0}, Stream::probe, truth) < 0.5).logical_and(outside_hole(truth.size(-1)));
  io::write_npy(inputs / "mask.npy", mask[0].to(at::kByte));
  io::write_npy(inputs / "truth.npy", truth[0]);
  auto settings =
      Settings::from_text(fmt::format("{{kind: inpainting, mask: mask.npy, noise_sd: {}}}", noise_sd), "demo", inputs);
  const Shape shape(truth.sizes().begin() + 1, truth.sizes().end());
  const auto likelihood = make_likelihood(settings, shape, {at::kDouble, at::kCPU}, Purpose::simulate);
  const auto y = likelihood->simulate(truth, {seed, 0, 0});
  io::write_npy(inputs / "y.npy", y[0]);
  auto picture = at::full_like(truth, std::numeric_limits<double>::quiet_NaN());
  picture.masked_scatter_(mask, y);
  io::write_npy(inputs / "observation.npy", picture[0]);
}

}  // namespace

const DemoScene& brain_scene() {
  static constexpr DemoScene scene{7, brain_text, measure_slice};
  return scene;
}

}  // namespace penumbra::app
