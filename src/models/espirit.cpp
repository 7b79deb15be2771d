#include "models/espirit.h"

#include <ATen/ATen.h>

namespace penumbra {
namespace {

/// Q Q^H, the projection onto what patches of k-space look like; over (coil, row, column) of a patch.
Tensor patch_projection(const Tensor& centre, const EspiritOptions& options) {
  const auto k = options.kernel, coils = centre.size(0);
  const auto patches =
      centre.unfold(1, k, 1).unfold(2, k, 1).permute({1, 2, 0, 3, 4}).reshape({-1, coils * k * k}).contiguous();
  const auto [energy, basis] = at::linalg_eigh(patches.t().matmul(patches.conj()));
  const double cut = options.threshold * options.threshold * energy.max().item<double>();
  const auto kept = basis.index_select(1, energy.gt(cut).nonzero().squeeze(1));
  return kept.matmul(kept.conj().t());
}

/// Every sample is in k^2 patches; the mean of what the projection makes of it there is a convolution over the coils:
/// h[c, c', a - b] = (1/k^2) sum of P[(c, a), (c', b)]. Lags from -(k - 1) to k - 1.
Tensor lag_kernels(const Tensor& projection, int64_t coils, int64_t k) {
  const auto P = projection.view({coils, k, k, coils, k, k});
  auto lags = at::zeros({coils, coils, 2 * k - 1, 2 * k - 1}, projection.options());
  for (int64_t i = 0; i < k; ++i)
    for (int64_t j = 0; j < k; ++j) lags.narrow(2, i, k).narrow(3, j, k).add_(P.select(1, i).select(1, j).flip({2, 3}));
  return lags / static_cast<double>(k * k);
}

/// exp(2 pi i lag (r - size/2) / size), [size, lags].
Tensor waves(int64_t size, int64_t k) {
  const auto options = at::TensorOptions().dtype(at::kDouble);
  const auto r = at::arange(size, options) - static_cast<double>(size / 2), lag = at::arange(1 - k, k, options);
  const auto angle = at::outer(r, lag) * (2 * M_PI / static_cast<double>(size));
  return at::complex(angle.cos(), angle.sin());
}

}  // namespace

Tensor espirit_maps(const Tensor& centre, int64_t height, int64_t width, const EspiritOptions& options) {
  const auto coils = centre.size(0), k = options.kernel;
  const auto calibration = centre.to(at::kComplexDouble);
  const auto lags = lag_kernels(patch_projection(calibration, options), coils, k);
  // In the image the convolution is a matrix G(r) at every pixel, and the sensitivities are its eigenvector of
  // eigenvalue one: G S = S.
  const auto across = lags.matmul(waves(width, k).t()), down = waves(height, k);
  const auto samples = calibration.flatten(1);
  const auto principal = std::get<1>(at::linalg_eigh(samples.matmul(samples.conj().t()))).select(1, coils - 1);
  auto maps = at::zeros({coils, height, width}, calibration.options());
  constexpr int64_t numbers_at_once = 1 << 22;
  const auto rows_at_once = std::max<int64_t>(1, numbers_at_once / (coils * coils * width));
  for (int64_t row = 0; row < height; row += rows_at_once) {
    const auto rows = std::min(rows_at_once, height - row);
    const auto G = down.narrow(0, row, rows).matmul(across);  // [coils, coils, rows, width]
    const auto [values, vectors] = at::linalg_eigh(G.permute({2, 3, 0, 1}).contiguous());
    const auto S = vectors.select(3, coils - 1);  // [rows, width, coils]
    const auto reference = S.matmul(principal.conj()).sgn();
    const auto seen = values.select(2, coils - 1).ge(options.crop);
    maps.narrow(1, row, rows).copy_((S * (reference.conj() * seen).unsqueeze(2)).permute({2, 0, 1}));
  }
  return maps;
}

}  // namespace penumbra
