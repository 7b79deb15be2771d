#include "diagnostics/history.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "core/error.h"

namespace penumbra::diagnostics {
namespace {

constexpr int64_t record_bytes = 3 * 2 * 4;

/// Every pixel holds the number of the offer.
Tensor offer(int64_t k) { return at::full({3, 1, 1, 2}, static_cast<double>(k), at::kDouble); }

std::vector<int64_t> kept(const History& history) {
  const auto numbers = history.draws().select(1, 0).flatten(1).select(1, 0).to(at::kLong).contiguous();
  return {numbers.data_ptr<int64_t>(), numbers.data_ptr<int64_t>() + numbers.numel()};
}

TEST(History, KeepsMultiplesOfItsStride) {
  History history(10 * record_bytes);
  for (int64_t k = 1; k <= 1000; ++k) {
    history.add(offer(k));
    const auto numbers = kept(history);
    ASSERT_LE(numbers.size(), 10u);
    ASSERT_EQ(static_cast<int64_t>(numbers.size()), k / history.stride());
    for (size_t i = 0; i < numbers.size(); ++i) ASSERT_EQ(numbers[i], static_cast<int64_t>(i + 1) * history.stride());
    // Never emptier than half full, never staler than a stride.
    ASSERT_GE(numbers.size(), std::min<size_t>(k, 5));
    ASSERT_LT(k - numbers.back(), history.stride());
  }
  EXPECT_EQ(history.stride(), 128);
}

TEST(History, ShapeAndPrecisionAreThoseOfTheStore) {
  History history(1 << 20);
  for (int64_t k = 1; k <= 3; ++k) history.add(offer(k));
  EXPECT_EQ(history.draws().sizes(), (std::vector<int64_t>{3, 3, 1, 1, 2}));
  EXPECT_EQ(history.draws().scalar_type(), at::kFloat);
}

TEST(History, KeepsTheFewestRecordsWithoutMemory) {
  History history(0, 4);
  for (int64_t k = 1; k <= 9; ++k) history.add(offer(k));
  EXPECT_EQ(kept(history), (std::vector<int64_t>{2, 4, 6, 8}));
  history.add(offer(10));
  EXPECT_EQ(kept(history), (std::vector<int64_t>{4, 8}));
}

TEST(History, ResumesBitForBit) {
  for (const int64_t stop : {0, 1, 9, 10, 11, 57}) {
    History whole(10 * record_bytes), before(10 * record_bytes), after(10 * record_bytes);
    for (int64_t k = 1; k <= 100; ++k) whole.add(offer(k) / 3);
    for (int64_t k = 1; k <= stop; ++k) before.add(offer(k) / 3);
    const auto state = before.state();
    for (int64_t k = 1; k <= 50; ++k) before.add(offer(-k));
    after.restore(state);
    for (int64_t k = stop + 1; k <= 100; ++k) after.add(offer(k) / 3);
    EXPECT_EQ(after.stride(), whole.stride());
    EXPECT_TRUE(after.draws().equal(whole.draws())) << stop;
  }
}

TEST(History, ThinsWhatALargerOneSaved) {
  History large(1000 * record_bytes), small(10 * record_bytes), same(10 * record_bytes);
  for (int64_t k = 1; k <= 57; ++k) {
    large.add(offer(k));
    same.add(offer(k));
  }
  small.restore(large.state());
  EXPECT_EQ(kept(small), kept(same));
}

TEST(History, RefusesWhatItCannotKeep) {
  EXPECT_THROW(History(-1), InputError);
  EXPECT_THROW(History(0, 1), InputError);
  History history(1000);
  EXPECT_THROW(history.draws(), InputError);
  history.add(offer(1));
  EXPECT_THROW(history.add(offer(1).narrow(0, 0, 2)), InputError);
  EXPECT_THROW(history.restore({}), InputError);
}

}  // namespace
}  // namespace penumbra::diagnostics
