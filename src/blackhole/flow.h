/// How the matter around a black hole moves, and what that does to its light.
///
/// Matter orbits with a share of the Keplerian specific angular momentum, falls freely from the innermost stable orbit
/// on, and may fall faster everywhere: u^r lies between that of the orbit and of a fall from rest at infinity. Away
/// from the plane a shell turns as a whole: l(r, theta) = l(r) sin^2 theta.
#pragma once

#include "blackhole/lanes.h"

namespace penumbra::blackhole {

struct FlowOptions {
  double rotation = 1;  ///< specific angular momentum over the Keplerian one, 0 to 1
  double infall = 0;    ///< 0: orbits; 1: the radial velocity of a free fall from rest
};

/// What a shell of the flow does: -u_phi / u_t in the plane, and u^r.
struct ShellMotion {
  double specific_momentum, radial_velocity;
};
ShellMotion shell_motion(double spin, double radius, const FlowOptions& options);

/// A photon where it is emitted, on its way to the observer; energy 1 at infinity.
template <typename Number>
struct EmittedPhoton {
  Number u;       ///< 1 / r
  Number cosine;  ///< cos theta
  Number lambda;  ///< angular momentum about the axis
  Number radial;  ///< d u / d tau of its ray as followed from the observer: k_r = radial / (1 - 2 u + a^2 u^2)
};

/// Observed over emitted frequency, 1 / (-k . u), for matter with l = -u_phi / u_t and u^r = velocity. 0 where no
/// matter can move so. Number: double or Lanes.
template <typename Number>
Number redshift(Number a, const EmittedPhoton<Number>& photon, Number l, Number velocity) {
  const Number none{}, r = 1 / photon.u, a2 = a * a, z2 = photon.cosine * photon.cosine, s2 = 1 - z2;
  const Number sigma = r * r + a2 * z2, delta = r * (r - 2) + a2, wide = r * r + a2;
  // The contravariant metric times -sigma delta.
  const Number tt = wide * wide - delta * a2 * s2, tp = 2 * a * r, pp = a2 - delta / s2;
  const Number narrow = tt - l * (2 * tp - l * pp);
  // u_t^2 from the norm -1 = (g^tt - 2 l g^tp + l^2 g^pp) u_t^2 + g_rr (u^r)^2, with g_rr = sigma / delta.
  const Number square = (delta + sigma * velocity * velocity) * sigma / narrow;
  const Number energy = root(square > 0 ? square : none) / (sigma * delta);
  const Number time = energy * (tt - l * tp), turn = energy * (tp - l * pp);
  const Number frequency = time - photon.lambda * turn - photon.radial * r * r / delta * velocity;
  return frequency > 0 ? 1 / frequency : none;
}

}  // namespace penumbra::blackhole
