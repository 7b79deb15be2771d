#include "core/blur.h"

#include <ATen/ATen.h>

namespace penumbra {
namespace {

/// [side, side], each column with sum 1.
Tensor blur_matrix(int64_t side, double sd, const at::TensorOptions& options) {
  const auto t = at::arange(side, options);
  const auto weights = (-0.5 * ((t.unsqueeze(0) - t.unsqueeze(1)) / sd).square()).exp();
  return weights / weights.sum(0, true);
}

}  // namespace

Tensor gaussian_blur(const Tensor& images, double sd) {
  if (sd == 0) return images;
  const auto rows = blur_matrix(images.size(-2), sd, images.options());
  const auto columns = blur_matrix(images.size(-1), sd, images.options());
  return rows.matmul(images).matmul(columns.t());
}

}  // namespace penumbra
