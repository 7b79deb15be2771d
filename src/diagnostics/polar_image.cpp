#include "diagnostics/polar_image.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

namespace penumbra::diagnostics {
namespace {

/// Along the last dimension, with black around the image.
Tensor blurred_rows(const Tensor& x, double sd) {
  const auto reach = static_cast<int64_t>(std::ceil(4 * sd));
  const auto offset = at::arange(-reach, reach + 1, at::kDouble);
  const auto weights = at::exp(-offset.square() / (2 * sd * sd));
  const auto kernel = (weights / weights.sum()).reshape({1, 1, -1});
  return at::conv1d(x.unsqueeze(1), kernel, {}, at::IntArrayRef{1}, at::IntArrayRef{reach}).squeeze(1);
}

/// Catmull-Rom's cubic through four values, at t between the second and the third.
double cubic(double a, double b, double c, double d, double t) {
  return b + 0.5 * t * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)));
}

}  // namespace

PolarImage::PolarImage(const Tensor& pixels, double pixel, double blur)
    : pixel_(pixel), height_(pixels.size(0)), width_(pixels.size(1)) {
  const double sd = blur / pixel / std::sqrt(8 * std::log(2.0));
  auto x = pixels.to(at::kDouble);
  if (sd > 0) x = blurred_rows(blurred_rows(x, sd).t().contiguous(), sd).t();
  x = x.contiguous();
  value_.assign(x.data_ptr<double>(), x.data_ptr<double>() + x.numel());
  brightest_ = *std::max_element(value_.begin(), value_.end());
}

Centre PolarImage::centroid() const {
  double sum = 0, east = 0, north = 0;
  for (int64_t i = 0; i < height_; ++i)
    for (int64_t j = 0; j < width_; ++j) {
      const double light = value_[i * width_ + j];
      if (light < brightest_ / 5) continue;
      sum += light;
      east += light * (static_cast<double>(width_ - 1) / 2 - static_cast<double>(j));
      north += light * (static_cast<double>(height_ - 1) / 2 - static_cast<double>(i));
    }
  return {east / sum * pixel_, north / sum * pixel_};
}

double PolarImage::between_pixels(double row, double column) const {
  const auto i = static_cast<int64_t>(std::floor(row)), j = static_cast<int64_t>(std::floor(column));
  if (i < -1 || j < -1 || i > height_ || j > width_) return 0;
  const auto pixel = [&](int64_t r, int64_t c) {
    return r < 0 || c < 0 || r >= height_ || c >= width_ ? 0.0 : value_[r * width_ + c];
  };
  double rows[4];
  for (int64_t k = 0; k < 4; ++k) {
    const auto r = i - 1 + k;
    rows[k] = cubic(pixel(r, j - 1), pixel(r, j), pixel(r, j + 1), pixel(r, j + 2), column - static_cast<double>(j));
  }
  return cubic(rows[0], rows[1], rows[2], rows[3], row - static_cast<double>(i));
}

double PolarImage::at(const Centre& centre, double r, double angle) const {
  const double east = centre.east + r * std::sin(angle), north = centre.north + r * std::cos(angle);
  return between_pixels(static_cast<double>(height_ - 1) / 2 - north / pixel_,
                        static_cast<double>(width_ - 1) / 2 - east / pixel_);
}

std::vector<double> PolarImage::profile(const Centre& centre, double angle) const {
  std::vector<double> values;
  const auto steps = std::min(height_, width_);  // two a pixel, to half the width
  for (int64_t k = 0; k <= steps; ++k) values.push_back(at(centre, static_cast<double>(k) * radial_step(), angle));
  return values;
}

}  // namespace penumbra::diagnostics
