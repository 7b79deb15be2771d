#include "vlbi/dft.h"

#include <ATen/ATen.h>

#include <numbers>

namespace penumbra::vlbi {
namespace {

constexpr double two_pi = 2 * std::numbers::pi;

/// ((n-1)/2 - i) pixel: both axes run against their index.
Tensor coordinates(int64_t n, double pixel) {
  return (0.5 * static_cast<double>(n - 1) - at::arange(n, at::kDouble)) * pixel;
}

/// P(u) exp(2 pi i u X), complex [m, n].
Tensor factor(const Tensor& frequency, int64_t n, const PixelGrid& grid) {
  const auto wave = at::polar(at::ones({1}, at::kDouble), two_pi * at::outer(frequency, coordinates(n, grid.pixel)));
  if (grid.pulse == Pulse::delta) return wave;
  return wave * at::sinc(frequency * grid.pixel).square().unsqueeze(1);
}

}  // namespace

Tensor dft_matrix(const Observation& observation, const PixelGrid& grid) {
  std::vector<double> u, v;
  for (const auto& visibility : observation.visibilities) {
    u.push_back(visibility.u);
    v.push_back(visibility.v);
  }
  const auto along_x = factor(at::tensor(u, at::kDouble), grid.width, grid);
  const auto along_y = factor(at::tensor(v, at::kDouble), grid.height, grid);
  const auto A = (along_y.unsqueeze(2) * along_x.unsqueeze(1)).flatten(1);
  return at::cat({at::real(A), at::imag(A)});
}

DirectTransform::DirectTransform(const Observation& observation, const PixelGrid& grid, double scale,
                                 const Placement& placement) {
  const auto A = scale * dft_matrix(observation, grid);
  A_ = place(A, placement);
  of_ones_ = place(A.sum(1, true), placement);
}

Tensor DirectTransform::apply(const Tensor& x) const {
  const at::NoTF32Guard full_precision;
  return at::mm(A_, x.t());
}

Tensor DirectTransform::transposed(const Tensor& w) const {
  const at::NoTF32Guard full_precision;
  return at::mm(w.t(), A_);
}

}  // namespace penumbra::vlbi
