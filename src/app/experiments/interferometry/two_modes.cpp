#include "app/experiments/interferometry/two_modes.h"

#include <ATen/ATen.h>

#include <cmath>

namespace penumbra::app::interferometry {

/// K is a product over rows and columns, so its eigenvectors are too.
TwoModePrior two_mode_prior(const Tensor& m, double pixel) {
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

std::shared_ptr<const GaussianMixture> TwoModePrior::mixture(const Shape& image_shape, double floor,
                                                             const Placement& placement) const {
  const auto C = Covariance::low_rank(place(factor, placement), floor);
  return std::make_shared<GaussianMixture>(
      image_shape, std::vector<Component>{{1, place(mean, placement), C}, {1, place(turned, placement), C}});
}

Tensor TwoModePrior::projection(const Tensor& x) const {
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

Tensor crescent_in_halo(int64_t side) {
  constexpr double fov = 160;
  const auto at = (0.5 * static_cast<double>(side - 1) - at::arange(side, at::kDouble)) * (fov / side);
  const auto north = at.unsqueeze(1), east = at.unsqueeze(0);

  constexpr double centre_east = -4.15, centre_north = -5.54, radius = 25.5, inside = 5.81, outside = 8.1;
  const auto x = (east - centre_east).expand({side, side}), y = (north - centre_north).expand({side, side});
  const auto r = (x * x + y * y).sqrt(), phi = at::atan2(x, y);  // from North to East
  const auto width = at::where(r < radius, at::full_like(r, inside), at::full_like(r, outside));
  const auto around = (1 + 1.92 * (phi + 1.03).cos() + 0.82 * (2 * (phi + 0.64)).cos()).clamp_min(0);
  const auto arc = (-0.5 * ((r - radius) / width).square()).exp() * around;

  constexpr double halo_east = -16.7, halo_north = 9.13, size = 25.98, flattening = 0.84, angle = -0.87;
  const auto dx = east - halo_east, dy = north - halo_north;
  const auto along = dx * std::sin(angle) + dy * std::cos(angle), across = dx * std::cos(angle) - dy * std::sin(angle);
  const auto hole = 1 - (-(r / radius).pow(2.9)).exp();
  const auto halo = (-0.5 * ((along / size).square() + (across / (flattening * size)).square())).exp() * hole;

  constexpr double share = 0.59;  // of the light, in the halo
  return (1 - share) * arc / arc.sum() + share * halo / halo.sum();
}

}  // namespace penumbra::app::interferometry
