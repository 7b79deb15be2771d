#include "samplers/langevin.h"

#include <ATen/ATen.h>

#include "samplers/cuda_langevin.h"

namespace penumbra {

Tensor langevin_update(const Tensor& x, const Tensor& grad_g, const Tensor& score, const StepScalars& numbers,
                       const Cursor& at) {
  if (cuda_langevin_serves(x, grad_g, score)) return cuda_langevin_update(x, grad_g, score, numbers, at);
  const auto z = normal({at.seed, at.first_chain, numbers.iteration()}, Stream::langevin, x);
  return x - numbers.gamma * (grad_g - numbers.alpha * score) + numbers.noise * z;
}

}  // namespace penumbra
