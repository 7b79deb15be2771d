#include "blackhole/ray.h"

#include <algorithm>
#include <numbers>

namespace penumbra::blackhole {
namespace {

using std::numbers::pi;

/// Radians about the hole a step: the truncation error is below 1e-9 a step.
constexpr double fine_step = 0.01;
/// A ray that has gone round so often is as good as bound: its impact parameter is critical to exp(-2 pi 8).
constexpr double most_radians = 16 * pi;

Ray<double> start(double a, double inclination, const SkyPoint& at) {
  return {a, std::sin(inclination), std::cos(inclination), at.alpha, at.beta};
}

double step_of(double a, const SkyPoint& at) {
  return fine_step / std::sqrt(at.alpha * at.alpha + at.beta * at.beta + a * a + 16);
}

double azimuth(const Ray<double>& ray) { return std::atan2(ray.n()[1], ray.n()[0]) + ray.drag(); }

/// The ray in the plane, by secants from a place short of it.
Crossing meeting(Ray<double> ray, double h) {
  for (int i = 0; i < 4; ++i) {
    auto further = ray;
    further.step(h);
    h *= ray.n()[2] / (ray.n()[2] - further.n()[2]);
    if (!std::isfinite(h)) break;
    ray.step(h);
  }
  return {1 / ray.u(), azimuth(ray), ray.du()};
}

}  // namespace

bool is_captured(double a, double inclination, const SkyPoint& at) {
  auto ray = start(a, inclination, at);
  const double h = step_of(a, at), edge = 1 / horizon(a);
  for (double radians = 0; radians < most_radians; radians += fine_step) {
    ray.step(h);
    if (ray.u() >= edge) return true;
    if (ray.u() < 0 || (ray.du() < 0 && ray.u() < 0.1)) return false;
  }
  return false;
}

std::vector<Crossing> equatorial_crossings(double a, double inclination, const SkyPoint& at, int most) {
  std::vector<Crossing> crossings;
  auto ray = start(a, inclination, at);
  const double h = step_of(a, at), edge = 1 / horizon(a);
  for (double radians = 0; radians < most_radians && std::ssize(crossings) < most; radians += fine_step) {
    const auto before = ray;
    ray.step(h);
    if (ray.u() >= edge || ray.u() <= 0) break;
    if (before.n()[2] * ray.n()[2] < 0) crossings.push_back(meeting(before, h));
  }
  return crossings;
}

}  // namespace penumbra::blackhole
