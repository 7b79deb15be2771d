#include "vlbi/bimodal.h"

#include <ATen/ATen.h>

namespace penumbra::test {

/// K is a product over rows and columns, so its eigenvectors are too.
BimodalPrior bimodal_prior(const Tensor& m, double pixel) {
  constexpr double length = 7, kappa = 0.45, floor = 0.02, drop = 1e-3;
  const auto side = m.size(0);
  const auto turned = m.flip({0, 1});
  const auto mean = 0.5 * (m + turned);
  const auto D = (kappa * (mean + floor * mean.max())).flatten();
  const auto at = pixel * at::arange(side, at::kDouble);
  const auto K = (-0.5 * (at.unsqueeze(0) - at.unsqueeze(1)).square() / (length * length)).exp();
  const auto [l, Q] = at::linalg_eigh(K);
  const auto variances = at::outer(l, l);
  const auto kept = (variances > drop * variances.max()).nonzero();
  const auto a = kept.select(1, 0), b = kept.select(1, 1);
  const auto columns = Q.index_select(1, a).unsqueeze(1) * Q.index_select(1, b).unsqueeze(0);  // [side, side, kept]
  const auto sds = (l.index_select(0, a) * l.index_select(0, b)).sqrt();
  return {m.flatten(), turned.flatten(), D.unsqueeze(1) * columns.reshape({side * side, -1}) * sds};
}

std::shared_ptr<const GaussianMixture> BimodalPrior::mixture(const Shape& image_shape, double floor,
                                                             const Placement& placement) const {
  const auto C = Covariance::low_rank(place(factor, placement), floor);
  return std::make_shared<GaussianMixture>(
      image_shape, std::vector<Component>{{1, place(mean, placement), C}, {1, place(turned, placement), C}});
}

Tensor BimodalPrior::projection(const Tensor& x) const {
  const auto axis = mean - turned;
  return flat(x).to(at::kDouble).matmul(axis) / mean.dot(axis);
}

Tensor crescent(int64_t side, double flux) {
  constexpr double fov = 160, radius = 24, width = 7, brightest = 0.9;
  const auto at = (0.5 * static_cast<double>(side - 1) - at::arange(side, at::kDouble)) * (fov / side);
  const auto y = at.unsqueeze(1), x = at.unsqueeze(0);
  const auto r = (x * x + y * y).sqrt();
  const auto image = (-0.5 * ((r - radius) / width).square()).exp() * (1 + 0.9 * (at::atan2(y, -x) - brightest).cos());
  return image * (flux / image.sum());
}

}  // namespace penumbra::test
