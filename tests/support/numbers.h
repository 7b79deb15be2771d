/// Random numbers that are the same in every run, and the types that tests keep numbers in.
#pragma once

#include <ATen/ATen.h>

#include "core/random.h"

namespace penumbra::test {

inline const auto float32 = at::TensorOptions().dtype(at::kFloat), float64 = at::TensorOptions().dtype(at::kDouble);
inline const Placement in_double{at::kDouble, at::kCPU};

/// Standard normal: tensor k of the list that a seed stands for. The first dimension counts chains.
inline Tensor numbers(uint64_t seed, at::IntArrayRef shape, int64_t k = 0, at::ScalarType type = at::kDouble) {
  return normal({seed, 0, k}, Stream::probe, at::empty(shape, type));
}

/// Standard normal, of a stream apart: for points, truths, whatever has a seed of its own.
inline Tensor noise(uint64_t seed, at::IntArrayRef shape) {
  return normal({seed, 0, 0}, Stream::truth, at::empty(shape, at::kDouble));
}

/// The largest magnitude.
inline double largest(const Tensor& x) { return x.abs().max().item<double>(); }

}  // namespace penumbra::test
