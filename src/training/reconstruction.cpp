#include "training/reconstruction.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

namespace penumbra::training {

namespace {

/// Real and imaginary part in a last dimension.
Tensor real_parts(const Tensor& data) { return data.is_complex() ? at::view_as_real(data).contiguous() : data; }

}  // namespace

Tensor level_db(const ForwardModel& A, const Tensor& x) {
  const c10::NoGradGuard no_gradients;
  const auto parts = real_parts(A.apply(x));
  const double size = static_cast<double>(parts.numel()) / static_cast<double>(x.size(0));
  return 20 * (norm_per_chain(parts) / std::sqrt(size)).to(at::kCPU, at::kDouble).log10();
}

Tensor LinearMeasurement::measure(const Tensor& x, const Cursor& at, Stream stream) const {
  const c10::NoGradGuard no_gradients;
  const auto clean = A->apply(x), parts = real_parts(clean);
  const auto noisy = parts + beta * normal(at, stream, parts);
  return clean.is_complex() ? at::view_as_complex(noisy) : noisy;
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
  const auto y = measurement_.measure(x, at, Stream::training_noise);
  return (network.reconstruct(measurement_.gradient(y), x) - x).square().mean();
}

std::vector<Band> Reconstruction::bands(int64_t /*count*/) const { return {{}}; }

Judged Reconstruction::judge(const ScoreNetwork& network, const Tensor& x, const Band& /*band*/,
                             const HeldOut& which) const {
  const auto images = x.to(which.device);
  const auto y = measurement_.measure(images, {which.seed, which.first, which.band}, Stream::validation_noise);
  const auto error = network.reconstruct(measurement_.gradient(y), images).cpu() - x;
  const auto squares = error.square().mean({1, 2, 3});
  return {squares, squares};
}

}  // namespace penumbra::training
