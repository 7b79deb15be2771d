// Batches cover every image once an epoch, and depend on their number alone.
#include "training/order.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace penumbra::training {
namespace {

std::vector<int64_t> indices(const Tensor& x) { return {x.data_ptr<int64_t>(), x.data_ptr<int64_t>() + x.numel()}; }

Tensor first_batches(int64_t count, int64_t batch, int64_t batches) {
  std::vector<Tensor> parts;
  for (int64_t k = 0; k < batches; ++k) parts.push_back(BatchOrder(5, count, batch)(k));
  return at::cat(parts);
}

TEST(BatchOrder, CoversEveryImageOnceAnEpoch) {
  // 13 images in batches of 5: thirteen batches are five epochs, and most batches lie in two of them.
  const auto epochs = first_batches(13, 5, 13).reshape({5, 13});
  for (int64_t epoch = 0; epoch < 5; ++epoch) {
    EXPECT_TRUE(at::equal(std::get<0>(epochs[epoch].sort()), at::arange(13, at::kLong)));
    EXPECT_TRUE(at::equal(epochs[epoch], permutation(5, 13, epoch)));
  }
}

TEST(BatchOrder, IsNewEachEpochAndForEachSeed) {
  EXPECT_FALSE(at::equal(permutation(5, 50, 0), permutation(5, 50, 1)));
  EXPECT_FALSE(at::equal(permutation(5, 50, 0), permutation(6, 50, 0)));
  EXPECT_FALSE(at::equal(permutation(5, 50, 0), at::arange(50, at::kLong)));
}

TEST(BatchOrder, HoldsABatchOfManyEpochs) {
  const auto batch = BatchOrder(5, 3, 10)(1);  // places 10 to 19: epochs 3 (from its second) to 6 (its first two)
  const auto all = at::cat({permutation(5, 3, 3), permutation(5, 3, 4), permutation(5, 3, 5), permutation(5, 3, 6)});
  EXPECT_TRUE(at::equal(batch, all.slice(0, 1, 11)));
}

TEST(BatchOrder, RemembersWithoutAnEffect) {
  BatchOrder order(5, 13, 5);
  for (const int64_t k : {0, 1, 2, 7, 2, 0, 40}) EXPECT_EQ(indices(order(k)), indices(BatchOrder(5, 13, 5)(k)));
}

TEST(BatchOrder, PutsEveryImageEverywhereAlike) {
  // The first place of 3000 epochs among 6 images: 500 each, with a standard deviation of 20.4.
  auto counts = at::zeros({6}, at::kLong);
  for (int64_t epoch = 0; epoch < 3000; ++epoch) counts[permutation(1, 6, epoch)[0].item<int64_t>()] += 1;
  EXPECT_LE((counts - 500).abs().max().item<int64_t>(), 82) << counts;
}

TEST(BatchOrder, RefusesNothing) {
  EXPECT_THROW(BatchOrder(1, 0, 4), std::invalid_argument);
  EXPECT_THROW(BatchOrder(1, 4, 0), std::invalid_argument);
}

TEST(BatchOrder, GivesEveryRowToOneRank) {
  for (const int64_t ranks : {1, 2, 3, 7, 8}) {
    int64_t next = 0;
    for (int64_t rank = 0; rank < ranks; ++rank) {
      const auto [first, count] = rows_of_rank(30, rank, ranks);
      EXPECT_EQ(first, next);
      EXPECT_LE(std::abs(count - 30.0 / static_cast<double>(ranks)), 1);
      next += count;
    }
    EXPECT_EQ(next, 30);
  }
}

}  // namespace
}  // namespace penumbra::training
