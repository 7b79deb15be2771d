#include "training/warp.h"

#include <ATen/ATen.h>

#include <cmath>

namespace penumbra::training {
namespace {

constexpr double degree = M_PI / 180;

/// How far the middles of a side's pixels lie from its middle, in pixels.
Tensor places(int64_t count, const at::TensorOptions& options) {
  return at::arange(count, options) + (1 - static_cast<double>(count)) / 2;
}

}  // namespace

Tensor Affine::inverse() const {
  // The result is shift + rotation * shear * scale of the image; this undoes it from left to right.
  const auto c = std::cos(rotation * degree), s = std::sin(rotation * degree), lean = std::tan(shear * degree);
  const double linear[2][2] = {{(c - lean * s) / scale, (-s - lean * c) / scale}, {s / scale, c / scale}};
  auto map = at::empty({2, 3}, at::TensorOptions().dtype(at::kDouble));
  auto* out = map.data_ptr<double>();
  for (const auto& row : linear) {
    *out++ = row[0];
    *out++ = row[1];
    *out++ = -row[0] * right - row[1] * down;
  }
  return map;
}

Tensor warp(const Tensor& images, const Tensor& maps, const WarpOptions& options) {
  const auto height = images.size(2), width = images.size(3);
  const auto m = maps.to(images.device(), images.scalar_type());
  const auto x = places(width, images.options()).reshape({1, 1, width});
  const auto y = places(height, images.options()).reshape({1, height, 1});
  const auto entry = [&](int64_t i, int64_t j) { return m.select(1, i).select(1, j).reshape({-1, 1, 1}); };
  const auto source = [&](int64_t i, int64_t extent) {
    return (entry(i, 0) * x + entry(i, 1) * y + entry(i, 2)) * (2.0 / static_cast<double>(extent));
  };
  // Written out instead of at::affine_grid_generator: that is a matrix product, which a GPU may be told to round to
  // ten bits, a good part of a pixel.
  const auto grid = at::stack({source(0, width), source(1, height)}, -1);
  const int64_t interpolation = options.interpolation == Interpolation::bicubic ? 2 : 0;
  const auto sample = [&](const Tensor& from, int64_t padding) {
    return at::grid_sampler_2d(from, grid, interpolation, padding, /*align_corners=*/false);
  };
  switch (options.border) {
    case Border::edge:
      return sample(images, 1);
    case Border::constant:
      return sample(images - options.fill, 0) + options.fill;
    case Border::reflect:
      break;
  }
  return sample(images, 2);
}

}  // namespace penumbra::training
