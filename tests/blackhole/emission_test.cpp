// Light along rays against the closed form of a thin flow: a sum over the ray's meetings with the plane.
#include "blackhole/emission.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "blackhole/ray.h"

namespace penumbra::blackhole {
namespace {

using std::numbers::pi;

Scene thin(double spin, double inclination, double thickness) {
  Scene scene{};
  scene.spin = spin;
  scene.inclination = inclination;
  scene.flow = {.rotation = 0.9, .infall = 0.2};
  scene.slope = 3;
  scene.inner_edge = 3;
  scene.sharpness = 4;
  scene.outer_edge = 15;
  scene.thickness = thickness;
  scene.redshift_power = 3;
  scene.turbulence = {.contrast = 0};
  return scene;
}

Turbulence none() {
  const std::vector<double> zeros(Turbulence::numbers_needed(3));
  return {{.contrast = 0, .arms = 3}, zeros};
}

/// Where cos theta passes 0 the ray has (d cos theta / d tau)^2 = eta: a Gaussian of SD h is passed in sqrt(2 pi) h /
/// sqrt(eta) of Mino's time.
double sum_over_crossings(const Scene& scene, const SkyPoint& at) {
  const auto [lambda, eta] = photon_constants(scene.spin, scene.inclination, at);
  double sum = 0;
  for (const auto& [r, azimuth, inward] : equatorial_crossings(scene.spin, scene.inclination, at, 4)) {
    const auto motion = shell_motion(scene.spin, r, scene.flow);
    const double g = redshift(scene.spin, EmittedPhoton<double>{1 / r, 0, lambda, inward}, motion.specific_momentum,
                              motion.radial_velocity);
    const double emissivity = std::pow(r / scene.inner_edge, -scene.slope) /
                              (1 + std::pow(scene.inner_edge / r, scene.sharpness)) * std::exp(-r / scene.outer_edge);
    sum += emissivity * std::pow(g, scene.redshift_power) * r * r;
  }
  return sum * std::sqrt(2 * pi / eta) * scene.thickness;
}

/// Of these spins and inclinations.
class ThinFlow : public testing::TestWithParam<std::pair<double, double>> {};

TEST_P(ThinFlow, ShinesAsTheSumOverItsImages) {
  const auto [spin, inclination] = GetParam();
  const Sky sky(spin, inclination, 12);
  const auto thick = thin(spin, inclination, 0.028), half = thin(spin, inclination, 0.014);
  const auto thick_light = emission(thick, none(), sky), half_light = emission(half, none(), sky);
  int compared = 0;
  for (int ring = 0; ring < sky.rings(); ring += 3)
    for (int direction = 0; direction < sky.directions(); direction += 11) {
      const auto at = sky.place(ring, direction);
      const auto crossings = equatorial_crossings(spin, inclination, at, 5);
      // A ray near the critical one goes on meeting the plane; far out and at the horizon the flow is cut off.
      if (crossings.empty() || crossings.size() > 3) continue;
      if (crossings.back().radius < 1.3 * horizon(spin) || crossings.back().radius > 30) continue;
      const auto place = ring * sky.directions() + direction;
      const double first = thick_light[place] / sum_over_crossings(thick, at);
      const double second = half_light[place] / sum_over_crossings(half, at);
      // A height h adds a term of h^2, which two heights take away; where it is large, so is the next, of h^4.
      if (std::abs(first - 1) > 0.2) continue;
      EXPECT_NEAR((4 * second - first) / 3, 1, 0.01) << at.alpha << " " << at.beta;
      ++compared;
    }
  EXPECT_GT(compared, 100);
}

INSTANTIATE_TEST_SUITE_P(Views, ThinFlow,
                         testing::Values(std::pair{0.0, 0.4}, std::pair{0.9, 0.8}, std::pair{-0.7, 1.1}));

TEST(Emission, OfAJetAddsToThatOfTheFlow) {
  auto scene = thin(0.5, 0.7, 0.1);
  const Sky sky(0.5, 0.7, 12);
  const auto without = emission(scene, none(), sky);
  scene.jet.brightness = 0.5;
  const auto with = emission(scene, none(), sky);
  double more = 0, total = 0;
  for (size_t i = 0; i < with.size(); ++i) {
    // Within what another end of the faint outskirts changes.
    EXPECT_GE(with[i], 0.99 * without[i]);
    more += with[i] - without[i];
    total += without[i];
  }
  EXPECT_GT(more, 0.05 * total);
}

}  // namespace
}  // namespace penumbra::blackhole
