/// The identity that makes vjp the adjoint of a linear model.
#pragma once

#include <ATen/ATen.h>

#include "core/tensor.h"
#include "models/forward_model.h"

namespace penumbra::test {

/// |<Ax, r> - <x, A^H r>| of the size of its terms, at the worst chain.
inline double adjoint_mismatch(const ForwardModel& A, const Tensor& x, const Tensor& r) {
  const auto Ax = A.apply(x);
  const auto left = at::real((Ax * r.conj()).flatten(1).sum(1)), right = (x * A.vjp(x, r)).flatten(1).sum(1);
  return ((left - right).abs() / (norm_per_chain(Ax) * norm_per_chain(r))).max().item<double>();
}

}  // namespace penumbra::test
