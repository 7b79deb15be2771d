#include <ATen/ATen.h>

#include <cmath>

#include "app/experiments/statistical/images.h"
#include "core/random.h"

namespace penumbra::app::statistical {
namespace {

constexpr double amplitude = 0.3;        ///< SD of the field inside the oval
constexpr double outside = 0.15;         ///< what is left of it outside
constexpr double correlation = 0.08;     ///< length, in units of the side
constexpr double modes_per_pixel = 0.3;  ///< cosine modes a direction: 10 at side 32, about as many as 100 faces span
constexpr int64_t candidate_count = 4000;

struct Plane {
  Tensor x, y;  ///< [side, side], from -1 to 1

  Tensor blob(double x0, double y0, double width, double height) const {
    return (-((x - x0) / width).square() - ((y - y0) / height).square()).exp();
  }
  Tensor oval() const { return (-(((x / 0.68).square() + (y / 0.85).square()).square())).exp(); }
};

Plane plane(int64_t side) {
  const auto axis = (at::arange(side, at::kDouble) + 0.5) * 2 / static_cast<double>(side) - 1;
  return {axis.unsqueeze(0).expand({side, side}), axis.unsqueeze(1).expand({side, side})};
}

/// cos(pi (i + 1/2) m / side), [side, modes].
Tensor cosines(int64_t side, int64_t modes) {
  const auto place = at::arange(side, at::kDouble) + 0.5;
  return (at::outer(place, at::arange(modes, at::kDouble)) * M_PI / static_cast<double>(side)).cos();
}

/// F with F F^T a squared-exponential field of SD `amplitude` in the oval, [n, modes^2].
Tensor field_factor(int64_t side, const Tensor& envelope) {
  const auto modes = static_cast<int64_t>(std::ceil(modes_per_pixel * static_cast<double>(side)));
  const auto basis = cosines(side, modes);
  const auto spectrum = (-(M_PI * correlation * at::arange(modes, at::kDouble)).square() / 4).exp();
  auto factor = at::einsum("im,jn,m,n->ijmn", {basis, basis, spectrum, spectrum}).reshape({side * side, modes * modes});
  factor = factor / factor.square().sum(1).mean().sqrt();
  return amplitude * factor * envelope.reshape({-1, 1});
}

Tensor schematic_face(const Plane& plane) {
  const auto eyes = plane.blob(-0.28, -0.2, 0.16, 0.1) + plane.blob(0.28, -0.2, 0.16, 0.1);
  return 0.6 * plane.oval() - 0.7 * eyes - 0.5 * plane.blob(0, 0.45, 0.3, 0.1) + 0.2 * plane.blob(0, 0.1, 0.1, 0.25);
}

}  // namespace

Images surrogate_images(int64_t side, uint64_t seed) {
  const auto at = plane(side);
  Images images;
  images.source = "built-in surrogate: a smooth random field in an oval";
  images.factor = field_factor(side, outside + (1 - outside) * at.oval());
  const auto [basis, singular, unused] = at::linalg_svd(images.factor, /*full_matrices=*/false);
  // The mean face lies in the span of the field, as the mean of real faces lies in that of the faces.
  const auto face = basis.mv(basis.t().mv(schematic_face(at).flatten()));
  // Half of a normal population on either side of its mean: the halves' means are 0.8 SD away.
  const auto half = 0.8 * singular[0] * basis.select(1, 0);
  images.means = at::stack({face - half, face + half});
  const auto z = normal({seed, 0, 0}, Stream::truth, at::empty({candidate_count, images.factor.size(1)}, at::kDouble));
  const auto w = normal({seed, 0, 1}, Stream::truth, at::empty({candidate_count, side * side}, at::kDouble));
  images.candidates = face + z.mm(images.factor.t()) + std::sqrt(images.floor) * w;
  return images;
}

}  // namespace penumbra::app::statistical
