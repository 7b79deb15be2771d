#include "io/image_grid.h"

#include <ATen/ATen.h>

#include <cmath>
#include <stdexcept>

namespace penumbra::io {

Tensor image_grid(const Tensor& images) {
  if (images.dim() != 4 || images.numel() == 0)
    throw std::invalid_argument("image_grid: expected images [N, C, H, W], found " + describe(images.sizes()));
  const auto count = images.size(0);
  const auto across = static_cast<int64_t>(std::ceil(std::sqrt(static_cast<double>(count))));
  const auto down = (count + across - 1) / across;
  const auto height = images.size(2) + 1, width = images.size(3) + 1;
  const bool colour = images.size(1) == 3;
  const auto shown = colour ? images : images.narrow(1, 0, 1);
  auto page = at::full({shown.size(1), down * height - 1, across * width - 1}, shown.min().item(), shown.options());
  for (int64_t i = 0; i < count; ++i)
    page.narrow(1, i / across * height, height - 1).narrow(2, i % across * width, width - 1).copy_(shown[i]);
  return colour ? page : page[0];
}

Tensor to_bytes(const Tensor& image, double low, double high) {
  const auto scaled = (image - low) * (255 / std::max(high - low, 1e-12));
  return scaled.nan_to_num(0, 255, 0).round().clamp(0, 255).to(at::kByte).contiguous();
}

}  // namespace penumbra::io
