// Closed forms of the Kerr metric against known values and against one another.
#include "blackhole/kerr.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace penumbra::blackhole {
namespace {

using std::numbers::pi;

TEST(Kerr, HasTheKnownInnermostOrbits) {
  EXPECT_NEAR(isco(0), 6, 1e-12);
  EXPECT_NEAR(isco(-1 + 1e-12), 9, 1e-3);
  // Bardeen, Press & Teukolsky 1972: 1.2370 r_g for a = 0.998.
  EXPECT_NEAR(isco(0.998), 1.2370, 1e-4);
  EXPECT_NEAR(horizon(0.6), 1.8, 1e-12);
}

TEST(Kerr, BindsMatterAsTightlyAsIsKnown) {
  // 1 - E at the innermost orbit: 1 - sqrt(8/9) and, for a = 0.998, 0.3209 (Thorne 1974: efficiency 32 %).
  EXPECT_NEAR(circular_orbit(0, 6).energy, std::sqrt(8.0 / 9), 1e-12);
  EXPECT_NEAR(circular_orbit(0, 6).angular_momentum, std::sqrt(12.0), 1e-12);
  EXPECT_NEAR(1 - circular_orbit(0.998, isco(0.998)).energy, 0.321, 1e-3);
}

TEST(Kerr, OrbitsAreStationaryInEnergyAtTheInnermostOne) {
  for (const double a : {-0.9, -0.3, 0.2, 0.7, 0.95}) {
    const double r = isco(a), h = 1e-4;
    const double slope = (circular_orbit(a, r + h).energy - circular_orbit(a, r - h).energy) / (2 * h);
    // The central difference of a smooth function: h^2 times its third derivative, below 1.
    EXPECT_NEAR(slope, 0, 1e-6) << "spin " << a;
  }
}

TEST(Kerr, FaceOnRedshiftIsThatOfSchwarzschild) {
  for (const double r : {4.0, 6.0, 10.0, 100.0}) EXPECT_NEAR(circular_redshift(0, r, 0), std::sqrt(1 - 3 / r), 1e-12);
}

TEST(Kerr, OrbitHasUnitNormAndItsEnergy) {
  // With the metric of the equatorial plane written out.
  for (const double a : {-0.8, 0.0, 0.5, 0.98})
    for (const double r : {9.5, 12.0, 30.0}) {
      const auto [omega, time, energy, momentum] = circular_orbit(a, r);
      const double tt = -(1 - 2 / r), tp = -2 * a / r, pp = r * r + a * a + 2 * a * a / r;
      EXPECT_NEAR(time * time * (tt + 2 * tp * omega + pp * omega * omega), -1, 1e-12);
      EXPECT_NEAR(-time * (tt + tp * omega), energy, 1e-12);
      EXPECT_NEAR(time * (tp + pp * omega), momentum, 1e-12);
    }
}

TEST(Shadow, IsACircleOfRadiusRoot27WithoutSpin) {
  for (const double inclination : {0.0, 0.4, pi / 2}) {
    const auto [width, height] = shadow_diameters(0, inclination);
    EXPECT_NEAR(width, 2 * std::sqrt(27.0), 1e-4);
    EXPECT_NEAR(height, 2 * std::sqrt(27.0), 1e-4);
  }
}

TEST(Shadow, OfAnExtremeHoleSeenEdgeOnReachesFromMinus2To7) {
  // Bardeen 1973: for a = 1 at the equator the prograde edge is at lambda = 2, the retrograde one at -7.
  const auto curve = critical_curve(1 - 1e-12, pi / 2, 1001);
  EXPECT_NEAR(curve.front().alpha, 7, 1e-4);
  EXPECT_NEAR(curve.back().alpha, -2, 1e-4);
}

TEST(Shadow, OfAnExtremeHoleSeenAlongItsAxisHasTheKnownRadius) {
  // a = 1, axis: polar photon at r = 1 + sqrt 2, radius 2 (1 + sqrt 2).
  const auto [width, height] = shadow_diameters(1 - 1e-12, 0);
  EXPECT_NEAR(width, 4 * (1 + std::sqrt(2.0)), 1e-5);
  // A chord of the sampled circle: the highest of 1001 points is at the top.
  EXPECT_NEAR(height, width, 1e-4);
}

TEST(Shadow, ChangesSmoothlyWhereItsFormulaChanges) {
  // Both cases of each formula differ by their order: a^2 = 1e-8 in spin, sin i = 1e-6 in inclination.
  const auto [below, x] = shadow_diameters(0.9999e-4, 1);
  const auto [above, y] = shadow_diameters(1.0001e-4, 1);
  EXPECT_NEAR(below, above, 1e-6);
  const auto [axis, z] = shadow_diameters(0.7, 0.99e-6);
  const auto [beside, w] = shadow_diameters(0.7, 1e-3);
  EXPECT_NEAR(axis, beside, 1e-4);
}

TEST(Shadow, MirrorsWithTheSpin) {
  const auto with = critical_curve(0.8, 1.1, 101), against = critical_curve(-0.8, 1.1, 101);
  EXPECT_NEAR(with.front().alpha, -against.back().alpha, 1e-9);
  EXPECT_NEAR(with.back().alpha, -against.front().alpha, 1e-9);
}

}  // namespace
}  // namespace penumbra::blackhole
