#include "training/fit.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <tuple>

namespace penumbra::training {
namespace {

Tensor with_channels(const Tensor& image, int64_t channels) {
  if (image.size(0) == channels) return image;
  if (image.size(0) == 1) return image.expand({channels, -1, -1});
  return (0.299 * image[0] + 0.587 * image[1] + 0.114 * image[2]).unsqueeze(0);
}

/// The middle `extent` pixels; of two middles the first.
Tensor middle(const Tensor& image, int64_t dimension, int64_t extent) {
  return image.narrow(dimension, (image.size(dimension) - extent) / 2, extent);
}

/// Without most of what will be cut off anyway: a strip of a hundred to one would become as large as a panorama first.
Tensor trimmed(const Tensor& image, int64_t dimension, double wanted) {
  const auto extent = image.size(dimension);
  const auto keep = static_cast<int64_t>(2 * wanted) + 4;
  // As much from both ends, so that the middle stays where it is.
  return extent > keep ? middle(image, dimension, keep + (extent - keep) % 2) : image;
}

}  // namespace

Tensor fit(const Tensor& image, const Shape& shape) {
  const auto [channels, height, width] = std::tuple(shape[0], shape[1], shape[2]);
  auto x = with_channels(image, channels);
  const auto scale = std::max(static_cast<double>(height) / static_cast<double>(x.size(1)),
                              static_cast<double>(width) / static_cast<double>(x.size(2)));
  x = trimmed(x, 1, static_cast<double>(height) / scale);
  x = trimmed(x, 2, static_cast<double>(width) / scale);
  const auto scaled = [&](int64_t extent, int64_t least) {
    return std::max<int64_t>(least, std::lround(scale * static_cast<double>(extent)));
  };
  const auto new_height = scaled(x.size(1), height), new_width = scaled(x.size(2), width);
  if (new_height != x.size(1) || new_width != x.size(2))
    x = at::_upsample_bilinear2d_aa(x.unsqueeze(0).contiguous(), {new_height, new_width}, /*align_corners=*/false)
            .squeeze(0);
  return middle(middle(x, 1, height), 2, width);
}

bool is_smaller(const Tensor& image, const Shape& shape) {
  return image.size(1) < shape[1] || image.size(2) < shape[2];
}

}  // namespace penumbra::training
