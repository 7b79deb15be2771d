/// The Gaussian likelihoods of several measurements side by side, one operator for all: one batch of chains samples the
/// posteriors of many images.
#pragma once

#include "likelihoods/likelihood.h"
#include "models/forward_model.h"

namespace penumbra::app::linear {

class ManyImages final : public Likelihood {
 public:
  struct Noise {
    double beta;     ///< its SD for each real component
    double norm_sq;  ///< |A|^2, which bounds the step
  };
  /// y is [images, data]. A batch holds `chains` chains of the first image, then of the second, and so on.
  ManyImages(std::shared_ptr<const ForwardModel> A, const Tensor& y, Noise noise, int64_t chains);

  std::vector<Misfit> misfit(const Tensor& x) const override;
  std::optional<double> lipschitz() const override { return noise_.norm_sq / (noise_.beta * noise_.beta); }
  std::optional<double> noise_level() const override { return noise_.beta; }
  Tensor simulate(const Tensor& x, const Cursor& at) const override;

 private:
  Tensor do_value(const Tensor& x) const override;
  Tensor do_grad(const Tensor& x) const override;

  std::shared_ptr<const ForwardModel> A_;
  Tensor y_;  ///< [images * chains, data]
  Noise noise_;
};

/// |A|^2 by power iteration.
double squared_norm(const ForwardModel& A, const Placement& placement);

}  // namespace penumbra::app::linear
