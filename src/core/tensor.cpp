#include "core/tensor.h"

#include <ATen/ATen.h>
#include <fmt/ranges.h>

#include "core/error.h"

namespace penumbra {

int64_t element_count(const Shape& shape) {
  int64_t count = 1;
  for (const auto extent : shape) count *= extent;
  return count;
}

std::string describe(at::IntArrayRef shape) { return fmt::format("{}", fmt::join(shape.begin(), shape.end(), "x")); }

Tensor flat(const Tensor& x) { return x.reshape({x.size(0), -1}); }

Tensor norm_per_chain(const Tensor& x) {
  const auto rows = flat(x);
  // LibTorch's norm takes 60 ns for a row of two numbers; from about 16 on it is the faster of the two.
  return rows.size(1) < 16 && !rows.is_complex() ? rows.square().sum(1).sqrt() : rows.norm(2, 1);
}

Tensor per_chain(const Tensor& number, const Tensor& x) {
  std::vector<int64_t> shape(x.dim(), 1);
  shape[0] = number.size(0);
  return number.reshape(shape);
}

void require_shape(const Tensor& x, const Shape& shape, const std::string& who) {
  if (x.dim() != static_cast<int64_t>(shape.size()) + 1 || x.sizes().slice(1) != at::IntArrayRef(shape))
    input_error("{}: expected [chains]x{}, found {}", who, describe(shape), describe(x.sizes()));
}

Tensor place(const Tensor& x, const Placement& placement) {
  const auto precision = x.is_complex() ? at::toComplexType(placement.precision) : placement.precision;
  return x.to(placement.device, precision);
}

}  // namespace penumbra
