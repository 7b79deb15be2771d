/// Counter-based random numbers: what chain c draws at iteration k depends on (seed, c, k) alone.
///
/// The counter of the Philox 4x32-10 generator is (block, iteration, chain, stream), its key the seed, so a number
/// has the same bits for any number of threads and any split of the chains into batches or processes. The
/// transformation to normal numbers is our own arithmetic, without libm, and compiled without fused multiply-adds:
/// the bits are the same on every CPU. A GPU draws the same numbers up to the last digits, since its logarithms and
/// sines are its own.
#pragma once

#include <cstdint>

#include "core/tensor.h"

namespace penumbra {

/// What a number is for. Streams are independent of one another for one seed.
enum class Stream : uint32_t {
  langevin,
  start,
  score_error,
  measurement,
  truth,
  probe,
  resample,
  churn,
  weights,
  training_noise,
  validation_noise,
  noise_level,
  augmentation,
  shuffle,
};

/// Where in a run a random number is drawn.
struct Cursor {
  uint64_t seed = 0;
  int64_t first_chain = 0;  ///< chain of the first row of the tensor to fill
  int64_t k = 0;            ///< iteration
};

/// Standard normal numbers shaped like `like`, whose first dimension is the chain; on its device, in its precision.
Tensor normal(const Cursor& at, Stream stream, const Tensor& like);

/// Uniform numbers in the open interval (0, 1).
Tensor uniform(const Cursor& at, Stream stream, const Tensor& like);

}  // namespace penumbra
