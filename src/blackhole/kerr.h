/// Closed forms of the Kerr metric: horizon, innermost orbits, circular motion and the edge of the shadow.
///
/// Lengths are in r_g = G M / c^2 and G = M = c = 1. The spin a is in (-1, 1) and counted along the angular momentum of
/// the flow: negative where the hole turns the other way. The inclination is the angle between the line of sight and
/// the axis. A photon has lambda = L / E and eta = Q / E^2 (Bardeen, Press & Teukolsky 1972; Bardeen 1973).
#pragma once

#include <utility>
#include <vector>

namespace penumbra::blackhole {

/// The outer horizon, 1 + sqrt(1 - a^2).
double horizon(double spin);

/// The innermost stable circular orbit of matter in the equatorial plane: 6 for spin 0, 1 for 1, 9 for -1.
double isco(double spin);

/// Matter in a circular orbit in the equatorial plane at radius r.
struct CircularOrbit {
  double omega;             ///< d phi / d t
  double time;              ///< u^t
  double energy;            ///< -u_t
  double angular_momentum;  ///< u_phi
};
CircularOrbit circular_orbit(double spin, double radius);

/// Observed over emitted frequency of a photon from such an orbit to infinity: 1 / (u^t (1 - omega lambda)).
double circular_redshift(double spin, double radius, double lambda);

/// A place on the sky: alpha to the right, beta up along the projected axis (Bardeen's impact parameters).
struct SkyPoint {
  double alpha, beta;
};

struct PhotonConstants {
  double lambda, eta;
};
PhotonConstants photon_constants(double spin, double inclination, const SkyPoint& at);

/// The edge of the shadow, where photons come from bound orbits of constant radius: upper half, from its right end to
/// its left; the lower half mirrors it. `count` points, at least 2.
std::vector<SkyPoint> critical_curve(double spin, double inclination, int count);

/// The extent of the shadow along alpha and along beta.
std::pair<double, double> shadow_diameters(double spin, double inclination);

}  // namespace penumbra::blackhole
