#include "models/random_order.h"

#include <ATen/ATen.h>

namespace penumbra {

Tensor random_order(int64_t count, const Cursor& at) {
  const auto numbers = uniform(at, Stream::probe, at::empty({1, count}, at::TensorOptions().dtype(at::kDouble)))[0];
  // Stable, because two of the numbers may be equal.
  return std::get<1>(numbers.sort(/*stable=*/true, 0, false));
}

}  // namespace penumbra
