#include "app/experiments/interferometry/sky_case.h"

#include <ATen/ATen.h>

#include "core/random.h"
#include "vlbi/array_file.h"

namespace penumbra::app::interferometry {
namespace {

/// Errors of single baselines, which no closure is free of.
void add_systematic_noise(vlbi::Observation& observation, double share, uint64_t seed) {
  auto& rows = observation.visibilities;
  const auto like = at::empty({1, static_cast<int64_t>(rows.size()), 2}, at::kDouble);
  const auto z = normal({seed, 0, 0}, Stream::probe, like)[0];
  const auto at = z.accessor<double, 2>();
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto k = static_cast<int64_t>(i);
    rows[i].value += share * std::abs(rows[i].value) * std::complex(at[k][0], at[k][1]);
  }
}

}  // namespace

SkySetup m87_setup() {
  SkySetup setup;
  setup.plan.stations = *vlbi::known_array("EHT2017");
  setup.plan.source = "M87";
  setup.plan.right_ascension = 12.513728717168174;
  setup.plan.declination = 12.39112323919932;
  setup.plan.stop = 8.2;
  setup.plan.interval = 1200;
  setup.plan.integration = 300;
  return setup;
}

SkySetup sgra_setup() {
  SkySetup setup;
  setup.plan.stations = *vlbi::known_array("EHT9");
  setup.plan.source = "SgrA";
  setup.plan.right_ascension = 17.761122472222223;
  setup.plan.declination = -28.992189444444445;
  setup.plan.clock = vlbi::Clock::sidereal;
  setup.plan.min_elevation = 15;
  setup.plan.opacity = 0.1;
  setup.plan.hands = 1;
  setup.fov = 160;
  setup.flux = 2;
  setup.flux_sd = 0.05;
  setup.preparation = {.average_scans = false, .min_baseline = 0, .systematic_noise = 0, .min_snr = 0};
  setup.closures.rule = vlbi::ClosureRule::ehtim_min;
  return setup;
}

std::shared_ptr<const InterferometryLikelihood> closure_likelihood(const SkyCase& sky, const SkySetup& setup,
                                                                   const Terms& terms, const Placement& placement) {
  InterferometryOptions options;
  options.grid = sky.grid;
  options.jy_per_unit = setup.flux / sky.truth.sum().item<double>();
  options.closure_phase = terms.closure_phase;
  options.log_closure_amplitude = terms.log_closure_amplitude;
  options.flux = {1, setup.flux, setup.flux_sd};
  return std::make_shared<InterferometryLikelihood>(Shape{1, sky.grid.height, sky.grid.width}, sky.observed,
                                                    vlbi::form_closures(sky.observed, setup.closures), options,
                                                    placement);
}

double SkyCase::mean_pixel() const { return truth.mean().item<double>(); }

SkyCase observe_sky(const Tensor& truth, const SkySetup& setup, uint64_t seed, const Placement& placement) {
  SkyCase sky;
  sky.truth = truth.to(at::kDouble);
  sky.placement = placement;
  sky.fov = setup.fov;
  const auto height = truth.size(1), width = truth.size(2);
  sky.grid = {height, width, setup.fov / static_cast<double>(width) * vlbi::microarcsecond, vlbi::Pulse::triangle};
  auto seen = vlbi::plan_observation(setup.plan, "observation");
  io::SkyImage image;
  image.pixels = setup.flux / sky.truth.sum() * sky.truth[0];
  image.pixel_radians = sky.grid.pixel;
  vlbi::observe_image(seen, image);
  add_systematic_noise(seen, setup.preparation.systematic_noise, seed);
  const auto measured = [&](const vlbi::Corruption& corruption) {
    auto copy = seen;
    vlbi::corrupt(copy, corruption, seed);
    return vlbi::prepare(copy, setup.preparation, "observation");
  };
  sky.calibrated = measured({});
  sky.observed = measured({.gain_sd = setup.gain_sd, .gain_sd_per_time = setup.gain_sd, .random_phases = true});
  sky.likelihood = closure_likelihood(sky, setup, {}, placement);
  return sky;
}

Tensor dirty_image(const SkyCase& sky) {
  const auto A = vlbi::dft_matrix(sky.calibrated, sky.grid);
  const auto m = static_cast<int64_t>(sky.calibrated.visibilities.size());
  const auto V = at::empty({2 * m}, at::kDouble);
  auto* at = V.data_ptr<double>();
  for (int64_t k = 0; k < m; ++k) {
    at[k] = sky.calibrated.visibilities[static_cast<size_t>(k)].value.real();
    at[m + k] = sky.calibrated.visibilities[static_cast<size_t>(k)].value.imag();
  }
  const auto image = A.t().mv(V).clamp_min(0).view_as(sky.truth);
  return image * (sky.truth.sum() / image.sum());
}

}  // namespace penumbra::app::interferometry
