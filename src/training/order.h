/// Which images form batch number k: every epoch is a fresh random permutation of all of them.
///
/// Batches follow one another without a gap, so that one may end an epoch and begin the next. What a batch holds is a
/// function of (seed, count, global batch, k) and nothing else: training resumes exactly, on any number of processes.
#pragma once

#include <cstdint>

#include "core/tensor.h"

namespace penumbra::training {

/// The order of an epoch: every number from 0 to count - 1 once, [count].
Tensor permutation(uint64_t seed, int64_t count, int64_t epoch);

/// The images of batch k, [global_batch]. Keeps the last permutation, so as not to sort a whole epoch for each batch.
class BatchOrder {
 public:
  BatchOrder(uint64_t seed, int64_t count, int64_t global_batch);
  Tensor operator()(int64_t k);

 private:
  uint64_t seed_;
  int64_t count_, global_batch_;
  int64_t epoch_ = -1;
  Tensor permutation_;  ///< of epoch_
};

/// A rank's rows of a global batch; the sizes of two ranks differ by at most one.
struct Rows {
  int64_t first = 0;
  int64_t count = 0;
};
Rows rows_of_rank(int64_t global_batch, int64_t rank, int64_t ranks);

}  // namespace penumbra::training
