/// Tensors and the few things that every module says about them.
///
/// The first dimension of every image and data tensor is the chain; an image is [chains, channels, height, width].
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

namespace penumbra {

using at::Tensor;

/// Extents without the chain dimension: [channels, height, width] for an image.
using Shape = std::vector<int64_t>;

int64_t element_count(const Shape& shape);

/// "1x64x64", for messages.
std::string describe(at::IntArrayRef shape);

/// [chains, ...] as [chains, n].
Tensor flat(const Tensor& x);

/// Euclidean norm of each chain's part, [chains].
Tensor norm_per_chain(const Tensor& x);

/// A per-chain number [chains], shaped to multiply tensors like x.
Tensor per_chain(const Tensor& number, const Tensor& x);

/// Throws unless x is [any number of chains, shape...]; `who` names the caller in the message.
void require_shape(const Tensor& x, const Shape& shape, const std::string& who);

/// Where tensors live and in which precision: float32 or float64, CPU or GPU.
struct Placement {
  at::ScalarType precision = at::kDouble;
  at::Device device = at::kCPU;
};

Tensor place(const Tensor& x, const Placement& placement);

}  // namespace penumbra
