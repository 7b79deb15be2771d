#include "blackhole/flow.h"

#include <algorithm>
#include <cmath>

#include "blackhole/kerr.h"

namespace penumbra::blackhole {
namespace {

/// u^r of matter in the plane that left the innermost stable orbit with its energy and angular momentum.
double plunge(double a, double r, const CircularOrbit& orbit) {
  const double energy = orbit.energy, momentum = orbit.angular_momentum, beyond = momentum - a * energy;
  const double wide = energy * (r * r + a * a) - a * momentum, delta = r * r - 2 * r + a * a;
  return -std::sqrt(std::max(0.0, wide * wide - delta * (r * r + beyond * beyond))) / (r * r);
}

/// u^r in the plane of a fall from rest at infinity without angular momentum.
double fall(double a, double r) { return -std::sqrt(2 * r * (r * r + a * a)) / (r * r); }

}  // namespace

ShellMotion shell_motion(double a, double r, const FlowOptions& options) {
  const double edge = isco(a);
  const auto orbit = circular_orbit(a, std::max(r, edge));
  const double own = r < edge ? plunge(a, r, orbit) : 0;
  return {options.rotation * orbit.angular_momentum / orbit.energy, own + options.infall * (fall(a, r) - own)};
}

}  // namespace penumbra::blackhole
