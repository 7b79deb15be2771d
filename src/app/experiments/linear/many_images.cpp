#include "app/experiments/linear/many_images.h"

#include <ATen/ATen.h>

#include "core/error.h"
#include "likelihoods/gaussian.h"

namespace penumbra::app::linear {

ManyImages::ManyImages(std::shared_ptr<const ForwardModel> A, const Tensor& y, Noise noise, int64_t chains)
    : Likelihood(A->image_shape()), A_(std::move(A)), y_(y.repeat_interleave(chains, 0)), noise_(noise) {}

Tensor ManyImages::do_value(const Tensor& x) const {
  return norm_per_chain(A_->apply(x) - y_).square() / (2 * noise_.beta * noise_.beta);
}

Tensor ManyImages::do_grad(const Tensor& x) const {
  return A_->vjp(x, A_->apply(x) - y_) / (noise_.beta * noise_.beta);
}

std::vector<Misfit> ManyImages::misfit(const Tensor& x) const {
  const auto count = y_[0].numel() * (y_.is_complex() ? 2 : 1);
  return {{"data", 2 * do_value(x) / static_cast<double>(count), count}};
}

Tensor ManyImages::simulate(const Tensor&, const Cursor&) const {
  input_error("many images: the experiment simulates its own measurements");
}

double squared_norm(const ForwardModel& A, const Placement& placement) {
  // Unit noise: the likelihood's Lipschitz constant is then the operator's squared norm.
  const std::shared_ptr<const ForwardModel> borrowed(&A, [](const ForwardModel*) {});
  const auto nothing =
      at::zeros(A.data_shape(), at::TensorOptions().dtype(placement.precision).device(placement.device));
  return GaussianLikelihood(borrowed, nothing, 1).lipschitz().value();
}

}  // namespace penumbra::app::linear
