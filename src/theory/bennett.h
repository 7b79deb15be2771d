/// Bennett's acceptance ratio (J. Comput. Phys. 22, 1976): the ratio of two normalising constants from the works of
/// moving samples of each onto the other.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/tensor.h"

namespace penumbra::theory {

struct BennettOptions {
  int64_t resamples = 200;  ///< of the bootstrap
  uint64_t seed = 0;
};

struct Bennett {
  double log_ratio = 0;                              ///< u = log(Z2 / Z1)
  double asymptotic_error = 0, bootstrap_error = 0;  ///< SDs of u
  /// -mean(forward) - mean(backward): how far the moved samples of each are from those of the other (the sum of both
  /// Kullback-Leibler divergences, so >= 0 but for sampling); the larger, the fewer samples decide.
  double gap = 0;
  double gap_error = 0;  ///< standard error of it
  double forward_sd = 0, backward_sd = 0;
  /// (sum f)^2 / sum f^2 of the terms f of Bennett's equation, of the worse side.
  double effective = 0;

  double error() const { return std::max(asymptotic_error, bootstrap_error); }
};

/// forward [n1]: log pi(T x) - log pi(x) + log|det T'| of samples x of the first; backward [n2]: the same of the second
/// with the inverse of T. Finite, float64 on the CPU, at least two of each.
Bennett bennett(const Tensor& forward, const Tensor& backward, const BennettOptions& options = {});

}  // namespace penumbra::theory
