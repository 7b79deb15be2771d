#include "vlbi/dft.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <numbers>
#include <span>

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

/// Complex [m, height * width].
Tensor waves(std::span<const Visibility> rows, const PixelGrid& grid) {
  std::vector<double> u, v;
  for (const auto& row : rows) {
    u.push_back(row.u);
    v.push_back(row.v);
  }
  const auto along_x = factor(at::tensor(u, at::kDouble), grid.width, grid);
  const auto along_y = factor(at::tensor(v, at::kDouble), grid.height, grid);
  return (along_y.unsqueeze(2) * along_x.unsqueeze(1)).flatten(1);
}

}  // namespace

Tensor dft_matrix(const Observation& observation, const PixelGrid& grid) {
  const auto A = waves(observation.visibilities, grid);
  return at::cat({at::real(A), at::imag(A)});
}

/// In blocks of rows: a night of single integrations has 10^4, whose matrix in double is larger than what is kept.
DirectTransform::DirectTransform(const Observation& observation, const PixelGrid& grid, double scale,
                                 const Placement& placement)
    : pixels_(grid.height * grid.width), folded_(placement.device.is_cpu()) {
  constexpr int64_t block = 512;
  const std::span<const Visibility> rows(observation.visibilities);
  const auto m = static_cast<int64_t>(rows.size()), kept = folded_ ? half() : pixels_;
  const auto options = at::TensorOptions().dtype(placement.precision).device(placement.device);
  A_ = at::empty({2, m, kept}, options);
  of_ones_ = at::empty({2, m, 1}, options);
  for (int64_t first = 0; first < m; first += block) {
    const auto count = std::min(block, m - first);
    const auto A = scale * waves(rows.subspan(static_cast<size_t>(first), static_cast<size_t>(count)), grid);
    const auto parts = at::stack({at::real(A), at::imag(A)});
    A_.narrow(1, first, count).copy_(parts.narrow(2, 0, kept));
    of_ones_.narrow(1, first, count).copy_(parts.sum(2, true));
  }
  of_ones_ = of_ones_.flatten(0, 1);
}

Tensor DirectTransform::apply(const Tensor& x) const {
  const at::NoTF32Guard full_precision;
  if (!folded_) return at::mm(A_.flatten(0, 1), x.t());
  const auto first = x.narrow(1, 0, half()), opposite = x.narrow(1, pixels_ - half(), half()).flip(1);
  auto folded = at::stack({first + opposite, first - opposite});
  if (pixels_ % 2 != 0) folded[0].select(1, half() - 1).mul_(0.5);  // the middle, its own opposite
  return at::bmm(A_, folded.transpose(1, 2)).flatten(0, 1);
}

Tensor DirectTransform::transposed(const Tensor& w) const {
  const at::NoTF32Guard full_precision;
  if (!folded_) return at::mm(w.t(), A_.flatten(0, 1));
  const auto folded = at::bmm(w.reshape({2, rows(), w.size(1)}).transpose(1, 2), A_);
  const auto even = folded[0], odd = folded[1];
  return at::cat({even + odd, (even - odd).narrow(1, 0, pixels_ - half()).flip(1)}, 1);
}

}  // namespace penumbra::vlbi
