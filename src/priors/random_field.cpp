#include "priors/random_field.h"

#include <ATen/ATen.h>

namespace penumbra {
namespace {

struct Coordinates {
  Tensor x, y, radius;  ///< [side, side], the half side is 1
};

Coordinates coordinates(int64_t side) {
  const auto axis =
      (at::arange(side, at::TensorOptions().dtype(at::kDouble)) + 0.5) * 2 / static_cast<double>(side) - 1;
  const auto x = axis.unsqueeze(0).expand({side, side}), y = axis.unsqueeze(1).expand({side, side});
  return {x, y, (x.square() + y.square()).sqrt()};
}

Tensor blob(const Coordinates& at, double x, double y, double width) {
  return (-((at.x - x).square() + (at.y - y).square()) / (2 * width * width)).exp();
}

/// cos(pi (i + 1/2) m / side), orthonormal: [side, modes].
Tensor cosine_modes(int64_t side, int64_t modes) {
  const auto options = at::TensorOptions().dtype(at::kDouble);
  const auto place = at::arange(side, options) + 0.5;
  const auto order = at::arange(modes, options);
  auto basis =
      (at::outer(place, order) * M_PI / static_cast<double>(side)).cos() * std::sqrt(2.0 / static_cast<double>(side));
  basis.select(1, 0).mul_(std::sqrt(0.5));
  return basis;
}

/// F with F F^T a squared-exponential random field of unit variance, modulated by an envelope: [side^2, modes^2].
Tensor field_factor(const RandomFieldOptions& options, const Tensor& envelope) {
  const auto basis = cosine_modes(options.side, options.modes);
  const auto order = at::arange(options.modes, basis.options());
  // Spectrum of exp(-r^2 / (2 length^2)) at the frequency m / 2 of the unit side.
  const auto spectrum = (-(M_PI * options.length * order).square() / 4).exp();
  auto factor = at::einsum("im,jn,m,n->ijmn", {basis, basis, spectrum, spectrum});
  factor = factor.reshape({options.side * options.side, options.modes * options.modes});
  const double variance = factor.square().sum(1).mean().item<double>();
  return factor / std::sqrt(variance) * options.amplitude * envelope.reshape({-1, 1});
}

std::shared_ptr<const Score> make(Settings& settings, const Placement& placement) {
  RandomFieldOptions options;
  options.side = settings.integer("side", options.side, {4, 256});
  options.modes =
      settings.integer("modes", std::min<int64_t>(options.modes, options.side), {1, static_cast<double>(options.side)});
  options.amplitude = settings.number("amplitude", options.amplitude, positive);
  options.length = settings.number("length", options.length, positive);
  options.floor_sd = settings.number("floor_sd", options.floor_sd, positive);
  return random_field(options, placement);
}

}  // namespace

std::shared_ptr<const GaussianMixture> random_field(const RandomFieldOptions& options, const Placement& placement) {
  const auto at = coordinates(options.side);
  const auto ring = 0.75 * (-((at.radius - 0.5) / 0.14).square() / 2).exp();
  const auto disk = 0.7 * (1 - ((at.radius - 0.55) / 0.06).sigmoid());
  const auto pair = 0.8 * blob(at, -0.3, 0.15, 0.2) + 0.6 * blob(at, 0.35, -0.2, 0.16);
  const auto envelope = 0.25 + 0.75 * (-(at.radius / 0.62).pow(4)).exp();
  const auto covariance =
      Covariance::low_rank(place(field_factor(options, envelope), placement), options.floor_sd * options.floor_sd);
  std::vector<Component> components;
  for (const auto& [weight, mean] : {std::pair{0.5, ring}, {0.25, disk}, {0.25, pair}})
    components.push_back({weight, place(mean.flatten(), placement), covariance});
  return std::make_shared<GaussianMixture>(Shape{1, options.side, options.side}, std::move(components));
}

extern const PriorEntry random_field_prior{"random_field", "built-in mixture of smooth rings, disks and double sources",
                                           make, "{side: 8, modes: 4}"};

}  // namespace penumbra
