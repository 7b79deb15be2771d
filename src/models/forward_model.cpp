#include "models/forward_model.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/autograd.h>

#include "core/error.h"

namespace penumbra {

ForwardModel::ForwardModel(std::string name, Shape image_shape, Shape data_shape)
    : name_(std::move(name)), image_shape_(std::move(image_shape)), data_shape_(std::move(data_shape)) {}

Tensor ForwardModel::apply(const Tensor& x) const {
  require_shape(x, image_shape_, name_ + ": image");
  return do_apply(x);
}

Tensor ForwardModel::vjp(const Tensor& x, const Tensor& r) const {
  require_shape(x, image_shape_, name_ + ": image");
  require_shape(r, data_shape_, name_ + ": residual");
  return do_vjp(x, r);
}

Tensor ForwardModel::do_vjp(const Tensor& x, const Tensor& r) const {
  c10::AutoGradMode with_gradients(true);
  const auto at = x.detach().requires_grad_();
  return torch::autograd::grad({do_apply(at)}, {at}, {r})[0];
}

}  // namespace penumbra
