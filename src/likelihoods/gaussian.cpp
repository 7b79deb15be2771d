#include "likelihoods/gaussian.h"

#include <ATen/ATen.h>

#include "core/error.h"

namespace penumbra {
namespace {

bool fits(const Tensor& y, const Shape& shape) {
  const auto rows = y.dim() == static_cast<int64_t>(shape.size()) + 1 ? 1 : 0;
  return y.sizes().slice(rows) == at::IntArrayRef(shape);
}

}  // namespace

GaussianLikelihood::GaussianLikelihood(std::shared_ptr<const ForwardModel> A, Tensor y, double beta)
    : Likelihood(A->image_shape()), A_(std::move(A)), y_(std::move(y)), beta_(beta) {
  if (!(beta > 0)) input_error("likelihood: noise_sd must be positive, found {}", beta);
  if (y_.defined() && !fits(y_, A_->data_shape()))
    input_error("likelihood: expected data of {}, found {}", describe(A_->data_shape()), describe(y_.sizes()));
}

Tensor GaussianLikelihood::do_value(const Tensor& x) const {
  return norm_per_chain(A_->apply(x) - y_).square() / (2 * beta_ * beta_);
}

Tensor GaussianLikelihood::do_grad(const Tensor& x) const { return A_->vjp(x, A_->apply(x) - y_) / (beta_ * beta_); }

std::vector<Misfit> GaussianLikelihood::misfit(const Tensor& x) const {
  const auto count = element_count(A_->data_shape()) * (y_.is_complex() ? 2 : 1);
  return {{"data", 2 * do_value(x) / static_cast<double>(count), count}};
}

std::optional<double> GaussianLikelihood::lipschitz() const {
  if (!A_->linear()) return std::nullopt;
  const auto known = A_->norm_squared();
  return (known ? *known : largest_eigenvalue()) / (beta_ * beta_);
}

std::optional<double> GaussianLikelihood::smooth_curvature() const {
  if (!A_->linear()) return std::nullopt;
  const auto& shape = image_shape();
  const auto coarse = normal({}, Stream::probe, at::empty({1, shape[0], 4, 4}, real_options()));
  const auto v = at::upsample_bilinear2d(coarse, {shape[1], shape[2]}, /*align_corners=*/true);
  const double gain = (A_->apply(v).norm() / v.norm()).item<double>() / beta_;
  return gain * gain;
}

at::TensorOptions GaussianLikelihood::real_options() const {
  return y_.defined() ? y_.options().dtype(at::toRealValueType(y_.scalar_type())) : at::TensorOptions();
}

/// Of A^T A, by Lanczos' iteration: the largest eigenvalue of its tridiagonal matrix grows to it. Power iteration needs
/// hundreds of products where the eigenvalues are dense at the edge, as for a random matrix; this needs dozens.
double GaussianLikelihood::largest_eigenvalue() const {
  constexpr int64_t most = 300;
  Shape shape = image_shape();
  shape.insert(shape.begin(), 1);
  // The start is random, the answer does not depend on it.
  auto v = normal({}, Stream::probe, at::empty(shape, real_options()));
  v = v / v.norm();
  auto before = at::zeros_like(v);
  auto T = at::zeros({most, most}, at::TensorOptions().dtype(at::kDouble));
  double largest = 0, b = 0;
  int settled = 0;
  for (int64_t k = 0; k < most && settled < 3; ++k) {
    auto w = A_->vjp(v, A_->apply(v)) - b * before;
    const double a = (w * v).sum().item<double>();
    T[k][k] = a;
    const double now = at::linalg_eigvalsh(T.narrow(0, 0, k + 1).narrow(1, 0, k + 1)).max().item<double>();
    settled = std::abs(now - largest) <= 1e-7 * std::abs(now) ? settled + 1 : 0;
    largest = now;
    w = w - a * v;
    b = w.norm().item<double>();
    // The space is exhausted, to rounding.
    if (!(b > 1e-12 * std::abs(largest)) || k + 1 == most) break;
    T[k][k + 1] = b;
    T[k + 1][k] = b;
    before = v;
    v = w / b;
  }
  return largest;
}

Tensor GaussianLikelihood::simulate(const Tensor& x, const Cursor& at) const {
  const auto clean = A_->apply(x);
  if (!clean.is_complex()) return clean + beta_ * normal(at, Stream::measurement, clean);
  return clean + beta_ * at::view_as_complex(normal(at, Stream::measurement, at::view_as_real(clean)).contiguous());
}

}  // namespace penumbra
