/// The Gaussian likelihoods of several measurements side by side, one operator for all: one batch of chains samples the
/// posteriors of many images.
#pragma once

#include "likelihoods/gaussian.h"

namespace penumbra::app::linear {

class ManyImages final : public GaussianLikelihood {
 public:
  struct Noise {
    double beta;     ///< its SD for each real component
    double norm_sq;  ///< |A|^2, which bounds the step
  };
  /// y is [images, data]. A batch holds `chains` chains of the first image, then of the second, and so on.
  ManyImages(std::shared_ptr<const ForwardModel> A, const Tensor& y, Noise noise, int64_t chains);

  /// Found once for all batches.
  std::optional<double> lipschitz() const override { return L_g_; }

 private:
  double L_g_;
};

/// |A|^2, by a formula or by Lanczos' iteration.
double squared_norm(const ForwardModel& A, const Placement& placement);

}  // namespace penumbra::app::linear
