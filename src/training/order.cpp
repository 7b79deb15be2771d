#include "training/order.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "core/random.h"

namespace penumbra::training {

Tensor permutation(uint64_t seed, int64_t count, int64_t epoch) {
  const auto like = at::empty({1, count}, at::TensorOptions().dtype(at::kDouble));
  const auto keys = uniform({seed, 0, epoch}, Stream::shuffle, like).flatten();
  // Keys have 32 bits: among very many images two may be equal, and only a stable sort has one answer then.
  return std::get<1>(at::sort(keys, /*stable=*/true, /*dim=*/0, /*descending=*/false));
}

BatchOrder::BatchOrder(uint64_t seed, int64_t count, int64_t global_batch)
    : seed_(seed), count_(count), global_batch_(global_batch) {
  if (count < 1 || global_batch < 1)
    throw std::invalid_argument("BatchOrder: expected at least one image and one row a batch");
}

Tensor BatchOrder::operator()(int64_t k) {
  std::vector<Tensor> parts;
  int64_t place = k * global_batch_;
  for (const int64_t end = place + global_batch_; place < end;) {
    const auto epoch = place / count_, within = place % count_;
    if (epoch != epoch_) permutation_ = permutation(seed_, count_, epoch);
    epoch_ = epoch;
    const auto length = std::min(end - place, count_ - within);
    parts.push_back(permutation_.narrow(0, within, length));
    place += length;
  }
  return at::cat(parts);
}

Rows rows_of_rank(int64_t global_batch, int64_t rank, int64_t ranks) {
  const auto first = global_batch * rank / ranks;
  return {first, global_batch * (rank + 1) / ranks - first};
}

}  // namespace penumbra::training
