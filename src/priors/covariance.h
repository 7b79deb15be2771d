/// A covariance S whose smoothed inverse (S + sigma^2 I)^-1 is cheap at every sigma, because S is kept diagonalised:
/// S = Q diag(l) Q^T + d (I - Q Q^T), with an orthonormal basis Q of some or all directions.
#pragma once

#include <memory>

#include "core/tensor.h"

namespace penumbra {

class Covariance {
 public:
  /// diag(variances), [n].
  static std::shared_ptr<const Covariance> diagonal(const Tensor& variances);
  /// A symmetric positive semi-definite matrix, [n, n].
  static std::shared_ptr<const Covariance> full(const Tensor& matrix);
  /// F F^T + floor I with F of [n, r]; floor > 0.
  static std::shared_ptr<const Covariance> low_rank(const Tensor& factor, double floor);

  int64_t dimension() const { return dimension_; }

  /// (S + sigma^2 I)^-1 v for rows v, [chains, n].
  Tensor solve(const Tensor& v, double sigma) const;
  /// S v for rows v.
  Tensor multiply(const Tensor& v) const;
  /// S^(1/2) z for rows z: turns standard normal numbers into draws.
  Tensor colour(const Tensor& z) const;
  /// log det(S + sigma^2 I).
  double log_det(double sigma) const;
  double smallest_variance() const;
  double largest_variance() const;
  /// The diagonal of S, [n].
  Tensor marginal_variances() const;
  /// S itself, [n, n]: for small n and tests.
  Tensor dense() const;

 private:
  Covariance(int64_t dimension, Tensor basis, Tensor variances, double floor);
  /// f(S) v for rows v, with f applied to the variances.
  template <typename Function>
  Tensor apply(const Tensor& v, Function f) const;

  int64_t dimension_;
  Tensor basis_;      ///< Q, [n, r]; undefined for a diagonal covariance
  Tensor variances_;  ///< l, [r]; [n] for a diagonal covariance
  double floor_;      ///< d; unused when the basis is complete
};

}  // namespace penumbra
