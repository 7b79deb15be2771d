#include "samplers/posterior.h"

#include <ATen/ATen.h>

namespace penumbra {

Tensor Posterior::score(const Tensor& x, double sigma, const Cursor& at) const {
  return prior->score(x, sigma, at) - likelihood->grad(x);
}

}  // namespace penumbra
