#include "diagnostics/quantiles.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "core/random.h"

namespace penumbra::diagnostics {
namespace {

// By hand: 4 draws, h = 3 p.
TEST(Quantiles, InterpolateBetweenOrderStatistics) {
  const auto draws = at::tensor({4.0, 1.0, 2.0, 10.0}, at::kDouble).reshape({2, 2, 1, 1, 1});
  const auto q = quantiles(draws, {0, 0.25, 0.5, 0.9, 1}).flatten();
  const auto expected = at::tensor({1.0, 1.75, 3.0, 8.2, 10.0}, at::kDouble);
  EXPECT_LT((q - expected).abs().max().item<double>(), 1e-14);
}

TEST(Quantiles, AreSortedDrawsAtWholeRanks) {
  const auto draws = normal({5, 0, 0}, Stream::langevin, at::empty({7, 3, 2, 4, 5}, at::kFloat));
  const auto sorted = std::get<0>(draws.to(at::kDouble).reshape({21, 2, 4, 5}).sort(0));
  const auto q = quantiles(draws, {0.25, 0.5, 0.9});
  EXPECT_EQ(q.sizes(), (std::vector<int64_t>{3, 2, 4, 5}));
  for (const auto& [row, rank] : {std::pair{0, 5}, {1, 10}, {2, 18}})
    EXPECT_LT((q[row] - sorted[rank]).abs().max().item<double>(), 1e-12);
}

// 3000 draws of 1500 pixels do not fit in one block; the seams must not show.
TEST(Quantiles, AreTheSameInBlocks) {
  const auto draws = normal({6, 0, 0}, Stream::langevin, at::empty({60, 50, 1500}, at::kFloat));
  const auto q = quantiles(draws, {0.3});
  for (const int64_t pixel : {0, 698, 699, 700, 1499})
    EXPECT_EQ(q[0][pixel].item<double>(), quantiles(draws.narrow(2, pixel, 1), {0.3}).item<double>());
}

TEST(Quantiles, RefuseWhatIsNoProbability) {
  const auto draws = at::zeros({2, 2, 1, 1, 1});
  EXPECT_THROW(quantiles(draws, {1.5}), InputError);
  EXPECT_THROW(quantiles(draws, {std::nan("")}), InputError);
  EXPECT_THROW(quantiles(draws, {}), InputError);
  EXPECT_THROW(quantiles(at::zeros({0, 2, 1, 1, 1}), {0.5}), InputError);
}

}  // namespace
}  // namespace penumbra::diagnostics
