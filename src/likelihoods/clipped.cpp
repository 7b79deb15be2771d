#include "likelihoods/clipped.h"

#include <ATen/ATen.h>

namespace penumbra {

Tensor ClippedLikelihood::do_grad(const Tensor& x) const {
  const auto grad = likelihood_->grad(x);
  return grad * per_chain((max_norm_ / norm_per_chain(grad)).clamp_max(1), grad);
}

}  // namespace penumbra
