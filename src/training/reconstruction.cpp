#include "training/reconstruction.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

namespace penumbra::training {

Tensor LinearMeasurement::measure(const Tensor& x, const std::function<Tensor(const Tensor& like)>& noise) const {
  const c10::NoGradGuard no_gradients;
  const auto clean = A->apply(x);
  if (!clean.is_complex()) return clean + beta * noise(clean);
  const auto parts = at::view_as_real(clean).contiguous();
  return at::view_as_complex(parts + beta * noise(parts));
}

DataGradient LinearMeasurement::gradient(const Tensor& y) const {
  return [*this, y](const Tensor& x) {
    Tensor value;
    {
      const c10::NoGradGuard no_gradients;
      value = A->vjp(x, A->apply(x) - y) / norm_sq;
    }
    if (!c10::GradMode::is_enabled() || !x.requires_grad()) return value;
    // The derivative of G is A^T A / |A|^2, its own adjoint. Told to autograd by a zero that passes gradients on: not
    // every model's adjoint can be differentiated, and none of its steps need be kept.
    const auto zero = x - x.detach();
    const auto model = A;
    const double scale = norm_sq;
    zero.register_hook([model, scale](const Tensor& v) { return model->vjp(v, model->apply(v)) / scale; });
    return value + zero;
  };
}

Tensor Reconstruction::loss(const ScoreNetwork& network, const Tensor& x, const Cursor& at, int64_t /*batch*/) const {
  const auto y = measurement_.measure(x, [&](const Tensor& like) { return training_noise(like, at); });
  return (network.reconstruct(measurement_.gradient(y), x) - x).square().mean();
}

std::vector<Band> Reconstruction::bands(int64_t /*count*/) const { return {{}}; }

Judged Reconstruction::judge(const ScoreNetwork& network, const Tensor& x, const Band& /*band*/,
                             const HeldOut& which) const {
  const auto images = x.to(which.device);
  const auto y = measurement_.measure(images, [&](const Tensor& like) {
    return normal({which.seed, which.first, which.band}, Stream::validation_noise, like);
  });
  const auto error = network.reconstruct(measurement_.gradient(y), images).cpu() - x;
  const auto squares = error.square().mean({1, 2, 3});
  return {squares, squares};
}

}  // namespace penumbra::training
