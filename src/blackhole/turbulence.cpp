#include "blackhole/turbulence.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace penumbra::blackhole {
namespace {

using std::numbers::pi;

constexpr int scales = 5;
constexpr double most_log_radius = 4.1;
/// Along a spiral, in ln r, at the largest scale.
constexpr double longest = 1.0;
/// Each scale is half as wide as the one before but not half as long: small structures are threads.
constexpr double shortening = 1.4;

double cells_per_unit(int scale) { return std::pow(shortening, scale) / longest; }
int cells_along(int scale) { return static_cast<int>(std::ceil(most_log_radius * cells_per_unit(scale))) + 2; }
int cells_around(int arms, int scale) { return arms << scale; }

/// Smooth from 0 to 1 with no slope at either end: the lattice does not show.
double ease(double t) { return t * t * t * (t * (6 * t - 15) + 10); }

/// Random values at the points of a lattice that closes around the hole, and a smooth passage between them.
double lattice_noise(const double* values, int around, double along, double turn) {
  const double x = std::floor(along), y = std::floor(turn);
  const auto i = static_cast<int>(x);
  const int j = ((static_cast<int>(y) % around) + around) % around, k = (j + 1) % around;
  const double s = ease(along - x), t = ease(turn - y);
  const double *low = values + i * around, *high = low + around;
  // Between points the mix of independent values is less than their SD; dividing keeps the variance even.
  const double norm = std::sqrt((s * s + (1 - s) * (1 - s)) * (t * t + (1 - t) * (1 - t)));
  return ((1 - s) * ((1 - t) * low[j] + t * low[k]) + s * ((1 - t) * high[j] + t * high[k])) / norm;
}

}  // namespace

int Turbulence::numbers_needed(int arms) {
  int count = 0;
  for (int scale = 0; scale < scales; ++scale) count += cells_along(scale) * cells_around(arms, scale);
  return count;
}

Turbulence::Turbulence(const TurbulenceOptions& options, std::span<const double> normals)
    : field_((rows_ + 1) * (columns_ + 1)) {
  double total = 0, amplitude = 1;
  for (int scale = 0; scale < scales; ++scale, amplitude *= options.persistence) total += amplitude * amplitude;
  amplitude = options.contrast / std::sqrt(total);
  const double* values = normals.data();
  for (int scale = 0; scale < scales; ++scale, amplitude *= options.persistence) {
    const int around = cells_around(options.arms, scale);
    const double along = cells_per_unit(scale);
    for (int row = 0; row <= rows_; ++row)
      for (int column = 0; column <= columns_; ++column) {
        const double x = most_log_radius * row / rows_, phi = 2 * pi * (column % columns_) / columns_;
        const double turn = (phi + options.winding * x) / (2 * pi) * around;
        field_[row * (columns_ + 1) + column] +=
            static_cast<float>(amplitude * lattice_noise(values, around, x * along, turn));
      }
    values += cells_along(scale) * around;
  }
  const auto mean = static_cast<float>(options.contrast * options.contrast / 2);
  for (auto& value : field_) value = std::exp(value - mean);
}

void Turbulence::add(const HotSpot& spot) {
  for (int row = 0; row <= rows_; ++row)
    for (int column = 0; column <= columns_; ++column) {
      const double x = most_log_radius * row / rows_ - spot.log_radius;
      const double y = std::remainder(2 * pi * column / columns_ - spot.azimuth, 2 * pi);
      field_[row * (columns_ + 1) + column] +=
          static_cast<float>(spot.brightness * std::exp(-(x * x + y * y) / (2 * spot.width * spot.width)));
    }
}

float Turbulence::operator()(float log_radius, float azimuth) const {
  const float x = std::clamp(log_radius * static_cast<float>(rows_ / most_log_radius), 0.0F, rows_ - 0.001F);
  float turn = azimuth * static_cast<float>(1 / (2 * pi));
  turn -= std::floor(turn);
  const float y = std::min(turn * columns_, columns_ - 0.001F);
  const auto i = static_cast<int>(x), j = static_cast<int>(y);
  const float s = x - static_cast<float>(i), t = y - static_cast<float>(j);
  const float *low = &field_[i * (columns_ + 1) + j], *high = low + columns_ + 1;
  return (1 - s) * ((1 - t) * low[0] + t * low[1]) + s * ((1 - t) * high[0] + t * high[1]);
}

}  // namespace penumbra::blackhole
