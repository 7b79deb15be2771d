#include "priors/covariance.h"

#include <ATen/ATen.h>

#include "core/error.h"

namespace penumbra {

Covariance::Covariance(int64_t dimension, Tensor basis, Tensor variances, double floor)
    : dimension_(dimension), basis_(std::move(basis)), variances_(std::move(variances)), floor_(floor) {}

std::shared_ptr<const Covariance> Covariance::diagonal(const Tensor& variances) {
  if (variances.dim() != 1)
    input_error("covariance: expected a vector of variances, found {}", describe(variances.sizes()));
  if (!variances.ge(0).all().item<bool>()) input_error("covariance: a variance is negative or not a number");
  return std::shared_ptr<const Covariance>(new Covariance(variances.size(0), {}, variances, 0));
}

std::shared_ptr<const Covariance> Covariance::full(const Tensor& matrix) {
  if (matrix.dim() != 2 || matrix.size(0) != matrix.size(1))
    input_error("covariance: expected a square matrix, found {}", describe(matrix.sizes()));
  const auto exact = matrix.to(at::kDouble);
  const double scale = exact.abs().max().item<double>();
  if (!std::isfinite(scale)) input_error("covariance: the matrix has an entry that is not finite");
  if ((exact - exact.t()).abs().max().item<double>() > 1e-6 * scale)
    input_error("covariance: the matrix is not symmetric");
  auto [variances, basis] = at::linalg_eigh(0.5 * (exact + exact.t()));
  // Rounding may leave a variance of a singular matrix slightly below zero.
  if (variances.min().item<double>() < -1e-6 * scale)
    input_error("covariance: the matrix has the negative eigenvalue {:g}", variances.min().item<double>());
  variances = variances.clamp_min(0).to(matrix.scalar_type());
  return std::shared_ptr<const Covariance>(
      new Covariance(matrix.size(0), basis.to(matrix.scalar_type()).contiguous(), variances, 0));
}

std::shared_ptr<const Covariance> Covariance::low_rank(const Tensor& factor, double floor) {
  if (factor.dim() != 2 || factor.size(1) > factor.size(0))
    input_error("covariance: expected a factor of [n, r] with r <= n, found {}", describe(factor.sizes()));
  if (!(floor > 0)) input_error("covariance: the floor must be positive, found {}", floor);
  const auto [basis, singular, unused] = at::linalg_svd(factor.to(at::kDouble), /*full_matrices=*/false);
  const auto type = factor.scalar_type();
  return std::shared_ptr<const Covariance>(
      new Covariance(factor.size(0), basis.to(type).contiguous(), (singular.square() + floor).to(type), floor));
}

template <typename Function>
Tensor Covariance::apply(const Tensor& v, Function f) const {
  if (!basis_.defined()) return v * f(variances_);
  const auto coordinates = v.matmul(basis_);
  if (variances_.size(0) == dimension_) return (coordinates * f(variances_)).matmul(basis_.t());
  const auto outside = f(at::scalar_tensor(floor_, variances_.options()));
  return outside * v + (coordinates * (f(variances_) - outside)).matmul(basis_.t());
}

Tensor Covariance::solve(const Tensor& v, double sigma) const {
  return apply(v, [=](const Tensor& variance) { return 1 / (variance + sigma * sigma); });
}

Tensor Covariance::multiply(const Tensor& v) const {
  return apply(v, [](const Tensor& variance) { return variance; });
}

Tensor Covariance::colour(const Tensor& z) const {
  return apply(z, [](const Tensor& variance) { return variance.sqrt(); });
}

double Covariance::log_det(double sigma) const {
  const double s2 = sigma * sigma;
  const double inside = (variances_.to(at::kDouble) + s2).log().sum().item<double>();
  const auto outside = static_cast<double>(dimension_ - variances_.size(0));
  return inside + (outside > 0 ? outside * std::log(floor_ + s2) : 0);
}

double Covariance::smallest_variance() const {
  const double inside = variances_.min().item<double>();
  return variances_.size(0) < dimension_ ? std::min(inside, floor_) : inside;
}

double Covariance::largest_variance() const {
  const double inside = variances_.max().item<double>();
  return variances_.size(0) < dimension_ ? std::max(inside, floor_) : inside;
}

Tensor Covariance::marginal_variances() const {
  if (!basis_.defined()) return variances_;
  const auto squares = basis_.square();
  const auto inside = squares.mv(variances_);
  return variances_.size(0) == dimension_ ? inside : inside + floor_ * (1 - squares.sum(1)).clamp_min(0);
}

Tensor Covariance::dense() const { return multiply(at::eye(dimension_, variances_.options())); }

}  // namespace penumbra
