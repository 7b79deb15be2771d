/// grad g scaled down to norm R_g where it is longer (Assumption 5); g itself is unchanged.
#pragma once

#include "likelihoods/likelihood.h"

namespace penumbra {

class ClippedLikelihood final : public Likelihood {
 public:
  /// `max_norm` is R_g, 0-dimensional, float64.
  ClippedLikelihood(std::shared_ptr<const Likelihood> likelihood, Tensor max_norm)
      : Likelihood(likelihood->image_shape()), likelihood_(std::move(likelihood)), max_norm_(std::move(max_norm)) {}

  std::vector<Misfit> misfit(const Tensor& x) const override { return likelihood_->misfit(x); }
  std::optional<double> lipschitz() const override { return likelihood_->lipschitz(); }
  std::optional<double> typical_curvature() const override { return likelihood_->typical_curvature(); }
  std::optional<double> smooth_curvature() const override { return likelihood_->smooth_curvature(); }
  std::shared_ptr<const Likelihood> noisier(const Tensor& alpha) const override;
  bool has_data() const override { return likelihood_->has_data(); }
  DataFacts data_facts() const override { return likelihood_->data_facts(); }
  std::optional<double> noise_sd() const override { return likelihood_->noise_sd(); }
  Tensor simulate(const Tensor& x, const Cursor& at) const override { return likelihood_->simulate(x, at); }

  const Likelihood& unclipped() const { return *likelihood_; }
  const Tensor& max_norm() const { return max_norm_; }

 private:
  Tensor do_value(const Tensor& x) const override { return likelihood_->value(x); }
  Tensor do_grad(const Tensor& x) const override;

  std::shared_ptr<const Likelihood> likelihood_;
  Tensor max_norm_;
};

/// What there is of the data and of the instrument, clipped or not.
inline const Likelihood& unclipped(const Likelihood& likelihood) {
  const auto* clipped = dynamic_cast<const ClippedLikelihood*>(&likelihood);
  return clipped ? clipped->unclipped() : likelihood;
}

}  // namespace penumbra
