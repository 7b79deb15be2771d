#include "app/experiments/linear/many_images.h"

#include <ATen/ATen.h>

namespace penumbra::app::linear {

ManyImages::ManyImages(std::shared_ptr<const ForwardModel> A, const Tensor& y, Noise noise, int64_t chains)
    : GaussianLikelihood(std::move(A), y.repeat_interleave(chains, 0), noise.beta),
      L_g_(noise.norm_sq / (noise.beta * noise.beta)) {}

double squared_norm(const ForwardModel& A, const Placement& placement) {
  // Unit noise: the likelihood's Lipschitz constant is then the operator's squared norm.
  const std::shared_ptr<const ForwardModel> borrowed(&A, [](const ForwardModel*) {});
  const auto nothing =
      at::zeros(A.data_shape(), at::TensorOptions().dtype(placement.precision).device(placement.device));
  return GaussianLikelihood(borrowed, nothing, 1).lipschitz().value();
}

}  // namespace penumbra::app::linear
