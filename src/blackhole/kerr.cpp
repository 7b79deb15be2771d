#include "blackhole/kerr.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace penumbra::blackhole {
namespace {

using std::numbers::pi;

/// Below this spin the shadow is a circle displaced by 2 a sin i, to a^2: far below rounding's share in the closed
/// form, which divides by a.
constexpr double slight_spin = 1e-4;

/// The photon that orbits at constant radius r.
PhotonConstants bound_photon(double a, double r) {
  const double delta = r * r - 2 * r + a * a;
  const double lambda = a + r / a * (r - 2 * delta / (r - 1));
  const double eta = r * r * r / (a * a) * (4 * delta / ((r - 1) * (r - 1)) - r);
  return {lambda, eta};
}

/// beta^2 of the bound photon; negative where the observer cannot see it.
double beta_squared(double a, double inclination, double r) {
  const auto [lambda, eta] = bound_photon(a, r);
  const double cosine = std::cos(inclination), cotangent = cosine / std::sin(inclination);
  return eta + a * a * cosine * cosine - lambda * lambda * cotangent * cotangent;
}

/// Where beta^2 changes its sign, between a radius where it is not negative and one where it is.
double visible_end(double a, double inclination, double inside, double outside) {
  if (beta_squared(a, inclination, outside) >= 0) return outside;
  for (int i = 0; i < 100; ++i) {
    const double middle = (inside + outside) / 2;
    (beta_squared(a, inclination, middle) >= 0 ? inside : outside) = middle;
  }
  return inside;
}

/// The radius of the bound photon without angular momentum about the axis: visible from everywhere.
double polar_photon(double a) {
  return 1 + 2 * std::sqrt(1 - a * a / 3) * std::cos(std::acos((1 - a * a) / std::pow(1 - a * a / 3, 1.5)) / 3);
}

/// Radii of the photons that orbit in the plane, with the hole and against it.
std::pair<double, double> equatorial_photons(double a) {
  const double spin = std::abs(a);
  const auto radius = [](double cosine) { return 2 * (1 + std::cos(2.0 / 3 * std::acos(cosine))); };
  return {radius(-spin), radius(spin)};
}

}  // namespace

double horizon(double a) { return 1 + std::sqrt(1 - a * a); }

double isco(double a) {
  const double z1 = 1 + std::cbrt(1 - a * a) * (std::cbrt(1 + a) + std::cbrt(1 - a));
  const double z2 = std::sqrt(3 * a * a + z1 * z1);
  return 3 + z2 - std::copysign(std::sqrt((3 - z1) * (3 + z1 + 2 * z2)), a);
}

CircularOrbit circular_orbit(double a, double r) {
  const double root = std::sqrt(r), omega = 1 / (r * root + a);
  const double norm = std::sqrt(r * r * (1 - 3 / r + 2 * a / (r * root)));
  return {omega, (r + a / root) / norm, (r - 2 + a / root) / norm, root * (r - 2 * a / root + a * a / r) / norm};
}

double circular_redshift(double a, double r, double lambda) {
  const auto orbit = circular_orbit(a, r);
  return 1 / (orbit.time * (1 - orbit.omega * lambda));
}

PhotonConstants photon_constants(double a, double inclination, const SkyPoint& at) {
  const double cosine = std::cos(inclination);
  return {-at.alpha * std::sin(inclination), at.beta * at.beta + (at.alpha * at.alpha - a * a) * cosine * cosine};
}

std::vector<SkyPoint> critical_curve(double a, double inclination, int count) {
  std::vector<SkyPoint> curve(count);
  const double sine = std::sin(inclination);
  const auto angle = [&](int i) { return pi * i / (count - 1); };
  // A pole-on shadow is a circle too, of the polar photon's impact parameter.
  if (std::abs(a) < slight_spin || sine < 1e-6) {
    double radius = std::sqrt(27.0);
    if (std::abs(a) >= slight_spin) radius = std::sqrt(bound_photon(a, polar_photon(a)).eta + a * a);
    for (int i = 0; i < count; ++i)
      curve[i] = {2 * a * sine + radius * std::cos(angle(i)), radius * std::sin(angle(i))};
    return curve;
  }
  const auto [with, against] = equatorial_photons(a);
  const double middle = polar_photon(a);
  const double inner = visible_end(a, inclination, middle, with), outer = visible_end(a, inclination, middle, against);
  for (int i = 0; i < count; ++i) {
    const double radius = (inner + outer) / 2 + (outer - inner) / 2 * std::cos(angle(i));
    curve[i] = {-bound_photon(a, radius).lambda / sine, std::sqrt(std::max(0.0, beta_squared(a, inclination, radius)))};
  }
  if (curve.front().alpha < curve.back().alpha) std::reverse(curve.begin(), curve.end());
  return curve;
}

std::pair<double, double> shadow_diameters(double a, double inclination) {
  const auto curve = critical_curve(a, inclination, 1001);
  double highest = 0;
  for (const auto& point : curve) highest = std::max(highest, point.beta);
  return {curve.front().alpha - curve.back().alpha, 2 * highest};
}

}  // namespace penumbra::blackhole
