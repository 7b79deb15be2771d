/// g(x) = |A(x) - y|^2 / (2 beta^2): additive white Gaussian noise on any forward model.
#pragma once

#include "likelihoods/likelihood.h"
#include "models/forward_model.h"

namespace penumbra {

class GaussianLikelihood : public Likelihood {
 public:
  /// y has the model's data shape, or is a batch of such, one for each chain; beta is the standard deviation of the
  /// noise, for each real component.
  GaussianLikelihood(std::shared_ptr<const ForwardModel> A, Tensor y, double beta);

  std::vector<Misfit> misfit(const Tensor& x) const override;
  /// |A|^2 / beta^2 for a linear model.
  std::optional<double> lipschitz() const override;
  /// |A v|^2 / (beta |v|)^2 for a linear model and v a random field of 4 x 4 values, interpolated.
  std::optional<double> smooth_curvature() const override;
  std::optional<double> noise_sd() const override { return beta_; }
  Tensor simulate(const Tensor& x, const Cursor& at) const override;

  const ForwardModel& model() const { return *A_; }
  const Tensor& data() const { return y_; }
  /// Real numbers where the data are, in their precision.
  at::TensorOptions real_options() const;

 protected:
  Tensor do_value(const Tensor& x) const override;
  Tensor do_grad(const Tensor& x) const override;

 private:
  double largest_eigenvalue() const;

  std::shared_ptr<const ForwardModel> A_;
  Tensor y_;
  double beta_;
};

}  // namespace penumbra
