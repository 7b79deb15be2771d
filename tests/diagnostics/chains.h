/// Chains of known law for the tests of the diagnostics.
#pragma once

#include <ATen/ATen.h>

#include <cmath>

#include "core/random.h"

namespace penumbra::test {

/// Stationary AR(1) chains of variance 1 and correlation rho^t: [records, chains, pixels].
inline Tensor autoregressive(double rho, at::IntArrayRef shape, uint64_t seed = 1) {
  const auto like = at::empty({shape[1], shape[2]}, at::kDouble);
  auto x = normal({seed, 0, 0}, Stream::start, like);
  std::vector<Tensor> records{x};
  for (int64_t t = 1; t < shape[0]; ++t) {
    x = rho * x + std::sqrt(1 - rho * rho) * normal({seed, 0, t}, Stream::langevin, like);
    records.push_back(x);
  }
  return at::stack(records);
}

inline Tensor independent(at::IntArrayRef shape, uint64_t seed = 1) { return autoregressive(0, shape, seed); }

inline double number(const Tensor& x) { return x.item<double>(); }

}  // namespace penumbra::test
