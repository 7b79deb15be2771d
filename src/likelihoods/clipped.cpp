#include "likelihoods/clipped.h"

#include <ATen/ATen.h>

namespace penumbra {

std::shared_ptr<const Likelihood> ClippedLikelihood::noisier(const Tensor& alpha) const {
  auto noisier = likelihood_->noisier(alpha);
  return noisier ? std::make_shared<ClippedLikelihood>(std::move(noisier), max_norm_ / alpha) : nullptr;
}

Tensor ClippedLikelihood::do_grad(const Tensor& x) const {
  const auto grad = likelihood_->grad(x);
  return grad * per_chain((max_norm_ / norm_per_chain(grad)).clamp_max(1), grad);
}

}  // namespace penumbra
