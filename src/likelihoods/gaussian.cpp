#include "likelihoods/gaussian.h"

#include <ATen/ATen.h>

#include "core/error.h"

namespace penumbra {

GaussianLikelihood::GaussianLikelihood(std::shared_ptr<const ForwardModel> A, Tensor y, double beta)
    : Likelihood(A->image_shape()), A_(std::move(A)), y_(std::move(y)), beta_(beta) {
  if (!(beta > 0)) input_error("likelihood: noise_sd must be positive, found {}", beta);
  if (y_.defined() && y_.sizes() != at::IntArrayRef(A_->data_shape()))
    input_error("likelihood: expected data of {}, found {}", describe(A_->data_shape()), describe(y_.sizes()));
}

Tensor GaussianLikelihood::do_value(const Tensor& x) const {
  return norm_per_chain(A_->apply(x) - y_).square() / (2 * beta_ * beta_);
}

Tensor GaussianLikelihood::do_grad(const Tensor& x) const { return A_->vjp(x, A_->apply(x) - y_) / (beta_ * beta_); }

std::vector<Misfit> GaussianLikelihood::misfit(const Tensor& x) const {
  const auto count = y_.numel() * (y_.is_complex() ? 2 : 1);
  return {{"data", 2 * do_value(x) / static_cast<double>(count), count}};
}

std::optional<double> GaussianLikelihood::lipschitz() const {
  if (!A_->linear()) return std::nullopt;
  // v <- A^T A v: the ratio of norms grows to |A|^2. The start is random, the answer does not depend on it.
  Shape shape = image_shape();
  shape.insert(shape.begin(), 1);
  const auto options = y_.defined() ? y_.options().dtype(at::toRealValueType(y_.scalar_type())) : at::TensorOptions();
  auto v = normal({}, Stream::probe, at::empty(shape, options));
  double largest = 0;
  for (int iteration = 0; iteration < 500; ++iteration) {
    v = v / v.norm();
    v = A_->vjp(v, A_->apply(v));
    const double estimate = v.norm().item<double>();
    const bool settled = std::abs(estimate - largest) <= 1e-9 * estimate;
    largest = estimate;
    if (settled || estimate == 0) break;
  }
  return largest / (beta_ * beta_);
}

Tensor GaussianLikelihood::simulate(const Tensor& x, const Cursor& at) const {
  const auto clean = A_->apply(x);
  if (!clean.is_complex()) return clean + beta_ * normal(at, Stream::measurement, clean);
  return clean + beta_ * at::view_as_complex(normal(at, Stream::measurement, at::view_as_real(clean)).contiguous());
}

}  // namespace penumbra
