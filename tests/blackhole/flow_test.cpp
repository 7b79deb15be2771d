// The motion of the flow against the metric and the closed forms of orbits and plunges.
#include "blackhole/flow.h"

#include <gtest/gtest.h>

#include "blackhole/kerr.h"

namespace penumbra::blackhole {
namespace {

struct Velocity {
  double t, r, phi;
};

/// 1 / g is linear in the photon's momentum: three photons tell the matter's velocity.
Velocity velocity(double a, double r, double cosine, double l, double radial) {
  const auto frequency = [&](double lambda, double du) {
    return 1 / redshift(a, EmittedPhoton<double>{1 / r, cosine, lambda, du}, l, radial);
  };
  const double t = frequency(0, 0), tiny = 1e-3, lapse = 1 - 2 / r + a * a / (r * r);
  return {t, (t - frequency(0, tiny)) / tiny * lapse, (t - frequency(tiny, 0)) / tiny};
}

/// u . u, u_t and u_phi by the covariant metric.
struct Invariants {
  double norm, energy, momentum;
};

Invariants invariants(double a, double r, double cosine, const Velocity& u) {
  const double sigma = r * r + a * a * cosine * cosine, delta = r * r - 2 * r + a * a, s2 = 1 - cosine * cosine;
  const double tt = -(1 - 2 * r / sigma), tp = -2 * a * r * s2 / sigma, rr = sigma / delta;
  const double pp = (r * r + a * a + 2 * a * a * r * s2 / sigma) * s2;
  return {tt * u.t * u.t + 2 * tp * u.t * u.phi + pp * u.phi * u.phi + rr * u.r * u.r, -(tt * u.t + tp * u.phi),
          tp * u.t + pp * u.phi};
}

TEST(Flow, OrbitsHaveTheRedshiftOfTheClosedForm) {
  for (const double a : {-0.9, 0.0, 0.5, 0.95})
    for (const double r : {9.0, 10.0, 25.0})
      for (const double lambda : {-6.0, 0.0, 3.0}) {
        const auto motion = shell_motion(a, r, {});
        const EmittedPhoton<double> photon{1 / r, 0, lambda, 0.4};
        EXPECT_NEAR(redshift(a, photon, motion.specific_momentum, motion.radial_velocity),
                    circular_redshift(a, r, lambda), 1e-12);
      }
}

TEST(Flow, FaceOnSchwarzschildIsRootOneMinusThreeOverR) {
  const auto motion = shell_motion(0, 8, {});
  EXPECT_NEAR(redshift(0.0, EmittedPhoton<double>{1.0 / 8, 0, 0, -0.3}, motion.specific_momentum, 0.0),
              std::sqrt(1 - 3.0 / 8), 1e-12);
}

TEST(Flow, HasUnitNormEverywhere) {
  for (const double a : {-0.9, 0.0, 0.7, 0.97})
    for (const double cosine : {0.0, 0.3, -0.7})
      for (const double r : {1.05 * horizon(a), 3.0, 5.0, 20.0})
        for (const auto& options : {FlowOptions{}, FlowOptions{0.6, 0.5}, FlowOptions{0.9, 1}}) {
          const auto motion = shell_motion(a, r, options);
          const double l = motion.specific_momentum * (1 - cosine * cosine);
          const auto u = velocity(a, r, cosine, l, motion.radial_velocity);
          const auto [norm, energy, momentum] = invariants(a, r, cosine, u);
          // Terms up to u^t squared, some thousands near the horizon, cancel; differences of 1e-3 cost 1e-10 more.
          EXPECT_NEAR(norm, -1, 1e-6) << a << " " << cosine << " " << r;
          EXPECT_NEAR(momentum / energy, l, 1e-7);
          EXPECT_NEAR(u.r, motion.radial_velocity, 1e-7);
        }
}

TEST(Flow, PlungesWithTheEnergyOfTheLastStableOrbit) {
  for (const double a : {-0.5, 0.0, 0.8}) {
    const double edge = isco(a), r = (edge + horizon(a)) / 2;
    const auto orbit = circular_orbit(a, edge);
    const auto motion = shell_motion(a, r, {});
    const auto [norm, energy, momentum] =
        invariants(a, r, 0, velocity(a, r, 0, motion.specific_momentum, motion.radial_velocity));
    EXPECT_NEAR(energy, orbit.energy, 1e-8);
    EXPECT_NEAR(momentum, orbit.angular_momentum, 1e-7);
  }
}

TEST(Flow, FreeFallHasEnergyOne) {
  for (const double r : {2.5, 4.0, 30.0}) {
    const auto motion = shell_motion(0.6, r, {0, 1});
    EXPECT_NEAR(invariants(0.6, r, 0, velocity(0.6, r, 0, 0, motion.radial_velocity)).energy, 1, 1e-8);
  }
}

TEST(Flow, LightOfWhatFallsInIsRedder) {
  const EmittedPhoton<double> outward{1.0 / 8, 0, 0, 0.5};
  const auto orbit = shell_motion(0.5, 8, {}), fall = shell_motion(0.5, 8, {1, 1});
  EXPECT_LT(redshift(0.5, outward, fall.specific_momentum, fall.radial_velocity),
            0.8 * redshift(0.5, outward, orbit.specific_momentum, orbit.radial_velocity));
}

}  // namespace
}  // namespace penumbra::blackhole
