#include <ATen/ATen.h>
#include <fmt/format.h>

#include "app/demo/scene.h"
#include "app/sky_observation.h"
#include "blackhole/image_set.h"
#include "io/npy.h"
#include "vlbi/uvfits.h"

namespace penumbra::app {
namespace {

namespace fs = std::filesystem;

/// Every station's phase is lost to the air and its gain known to 10 %: only closures survive.
constexpr auto observation =
    "{array: EHT2017, source: M87, start: 0, stop: 8, fov: 128, flux: 0.6, gain_sd: 0.1, station_phases: random}";

/// Seen from almost above, the brighter side in the South, as M87.
constexpr auto like_m87 =
    "{inclination: [15, 30], diameter: [0.31, 0.345], peak: [1, 1], blur: [1.5, 2], position_angle: [240, 300]}";

constexpr auto blackhole_configuration =
    R"(# penumbra demo: a black hole like M87's, seen by the Event Horizon Telescope, from closures alone.
prior: {{kind: network, name: blackhole-64-small}}
likelihood:
  kind: interferometry
  data: {{file: inputs/observation.uvfits}}
  fov: 128   # microarcseconds
  # Closures do not know where in the field the source is: its light is kept near the centre.
  terms: {{closure_phase: 1, log_closure_amplitude: 1, position: {{sd: 2}}}}
sampler: {{kind: apmc-pnp, steps: {steps}}}
chains: {chains}
seed: {seed}
# How the data were made (penumbra observe).
observation: {observation}
)";

std::string blackhole_text(bool quick, uint64_t seed) {
  return fmt::format(blackhole_configuration, fmt::arg("steps", quick ? 60 : 400), fmt::arg("chains", quick ? 2 : 8),
                     fmt::arg("seed", seed), fmt::arg("observation", observation));
}

void observe_blackhole(const fs::path& inputs, uint64_t seed) {
  auto ranges = Settings::from_text(like_m87, "demo");
  const blackhole::ImageOptions images{.seed = seed, .ranges = blackhole::ranges_setting(ranges)};
  io::write_npy(inputs / "truth.npy", blackhole::generate_set(images, 1)[0]);
  auto settings = Settings::from_text(observation, "demo");
  vlbi::write_uvfits(inputs / "observation.uvfits", simulate_sky(settings, inputs / "truth.npy", seed));
}

}  // namespace

const DemoScene& blackhole_scene() {
  // Of ten seeds that were tried the one that looks most like M87: source, noise and chains all come from it.
  static constexpr DemoScene scene{29, blackhole_text, observe_blackhole};
  return scene;
}

}  // namespace penumbra::app
