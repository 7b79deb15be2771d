#include "blackhole/sky.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace penumbra::blackhole {
namespace {

using std::numbers::pi;

/// Width of the dense zone about the edge, as a share of it.
constexpr double dense = 0.03;
constexpr double spacing = 0.12;
/// s of the innermost ring, f = 0.
const double innermost = -std::asinh(1 / dense);

/// The distance of the edge in each direction, from the closed form's points.
std::vector<float> edge_distances(const std::vector<SkyPoint>& curve, double middle, int directions) {
  std::vector<float> distances(directions + 1);
  size_t i = 0;
  const auto angle = [&](size_t k) { return std::atan2(curve[k].beta, curve[k].alpha - middle); };
  const auto distance = [&](size_t k) { return std::hypot(curve[k].beta, curve[k].alpha - middle); };
  for (int direction = 0; direction <= directions / 2; ++direction) {
    const double phi = 2 * pi * direction / directions;
    while (i + 2 < curve.size() && angle(i + 1) < phi) ++i;
    const double low = angle(i), high = angle(i + 1);
    const double t = high > low ? std::clamp((phi - low) / (high - low), 0.0, 1.0) : 0;
    distances[direction] = distances[directions - direction] =
        static_cast<float>((1 - t) * distance(i) + t * distance(i + 1));
  }
  return distances;
}

}  // namespace

Sky::Sky(double spin, double inclination, double extent) {
  const auto curve = critical_curve(spin, inclination, 200);
  middle_ = (curve.front().alpha + curve.back().alpha) / 2;
  edge_ = edge_distances(curve, middle_, directions_);
  const double nearest = *std::min_element(edge_.begin(), edge_.end());
  const double outermost = std::asinh((extent / nearest - 1) / dense);
  rings_ = static_cast<int>(std::ceil((outermost - innermost) / spacing)) + 2;
}

SkyPoint Sky::place(int ring, int direction) const {
  const double f = std::max(0.0, 1 + dense * std::sinh(innermost + spacing * ring)),
               phi = 2 * pi * direction / directions_;
  const double rho = f * edge_[direction];
  return {middle_ + rho * std::cos(phi), rho * std::sin(phi)};
}

float Sky::interpolate(const std::vector<float>& values, float x, float y) const {
  float turn = std::atan2(y, x) * static_cast<float>(directions_ / (2 * pi));
  if (turn < 0) turn += directions_;
  const int j = std::min(static_cast<int>(turn), directions_ - 1), k = (j + 1) % directions_;
  const float t = turn - static_cast<float>(j);
  const float edge = (1 - t) * edge_[j] + t * edge_[j + 1];
  const float stretched = (std::sqrt(x * x + y * y) / edge - 1) / static_cast<float>(dense);
  const float place = (std::asinh(stretched) - static_cast<float>(innermost)) / static_cast<float>(spacing);
  const int i = std::clamp(static_cast<int>(place), 0, rings_ - 2);
  const float s = std::clamp(place - static_cast<float>(i), 0.0F, 1.0F);
  const float *low = &values[i * directions_], *high = low + directions_;
  return (1 - s) * ((1 - t) * low[j] + t * low[k]) + s * ((1 - t) * high[j] + t * high[k]);
}

}  // namespace penumbra::blackhole
