#include "samplers/differences.h"

#include <ATen/ATen.h>

namespace penumbra {

Tensor differences(const Tensor& x) {
  return at::stack({at::constant_pad_nd(x.diff(1, 2), {0, 0, 0, 1}), at::constant_pad_nd(x.diff(1, 3), {0, 1})});
}

Tensor adjoint_differences(const Tensor& p) {
  return -at::constant_pad_nd(p[0], {0, 0, 1, 0}).diff(1, 2) - at::constant_pad_nd(p[1], {1, 0}).diff(1, 3);
}

}  // namespace penumbra
