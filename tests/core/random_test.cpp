#include "core/random.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/PhiloxRNGEngine.h>
#include <gtest/gtest.h>

namespace penumbra {
namespace {

Tensor shaped(int64_t chains, int64_t n, at::ScalarType type = at::kDouble) {
  return at::empty({chains, n}, at::TensorOptions().dtype(type));
}

TEST(Random, IsPhiloxWithTheCounterAsDocumented) {
  const Cursor at{0x123456789ABCDEFULL, 5, 77};
  const auto numbers = uniform(at, Stream::measurement, shaped(3, 1030));
  for (const int64_t chain : {0, 2})
    for (const int64_t block : {0, 1, 257}) {
      // The engine's counter is (offset, subsequence): the offset's high word is the iteration, and so on.
      at::Philox4_32 engine(at.seed, (uint64_t(Stream::measurement) << 32) | uint64_t(at.first_chain + chain),
                            (uint64_t(at.k) << 32) | uint64_t(block));
      for (int64_t word = 0; word < 4 && 4 * block + word < 1030; ++word)
        EXPECT_EQ(numbers[chain][4 * block + word].item<double>(), (engine() + 0.5) * 0x1p-32);
    }
}

TEST(Random, NormalNumbersAreBoxMullerToRounding) {
  const Cursor at{42, 0, 3};
  const auto u = uniform(at, Stream::langevin, shaped(4, 4096)).reshape({-1, 2});
  const auto z = normal(at, Stream::langevin, shaped(4, 4096)).reshape({-1, 2});
  const auto radius = (-2 * u.select(1, 0).log()).sqrt(), angle = 2 * M_PI * u.select(1, 1);
  EXPECT_LT((z.select(1, 0) - radius * angle.cos()).abs().max().item<double>(), 1e-13);
  EXPECT_LT((z.select(1, 1) - radius * angle.sin()).abs().max().item<double>(), 1e-13);
}

TEST(Random, BitsDoNotDependOnTheSplitOrTheThreads) {
  // Large enough that the work is divided between threads.
  const auto whole = normal({7, 0, 9}, Stream::langevin, shaped(64, 4099));
  for (int64_t first = 0; first < 64; first += 23) {
    const auto count = std::min<int64_t>(23, 64 - first);
    const auto part = normal({7, first, 9}, Stream::langevin, shaped(count, 4099));
    EXPECT_TRUE(part.equal(whole.narrow(0, first, count)));
  }
  const int threads = at::get_num_threads();
  for (const int other : {1, 3, 4}) {
    at::set_num_threads(other);
    EXPECT_TRUE(normal({7, 0, 9}, Stream::langevin, shaped(64, 4099)).equal(whole)) << other;
  }
  at::set_num_threads(threads);
}

TEST(Random, SinglePrecisionIsTheRoundedDouble) {
  const auto in_double = normal({7, 0, 9}, Stream::start, shaped(2, 100));
  EXPECT_TRUE(normal({7, 0, 9}, Stream::start, shaped(2, 100, at::kFloat)).equal(in_double.to(at::kFloat)));
}

TEST(Random, SeedChainIterationAndStreamAllMatter) {
  const auto base = normal({1, 0, 0}, Stream::langevin, shaped(1, 64));
  EXPECT_FALSE(normal({2, 0, 0}, Stream::langevin, shaped(1, 64)).equal(base));
  EXPECT_FALSE(normal({1, 1, 0}, Stream::langevin, shaped(1, 64)).equal(base));
  EXPECT_FALSE(normal({1, 0, 1}, Stream::langevin, shaped(1, 64)).equal(base));
  EXPECT_FALSE(normal({1, 0, 0}, Stream::start, shaped(1, 64)).equal(base));
}

TEST(Random, NormalMomentsAndTailsAreRight) {
  const int64_t n = 4'000'000;
  const auto z = normal({3, 0, 0}, Stream::langevin, shaped(4, n / 4)).flatten();
  const double N = static_cast<double>(n);
  // Five standard errors of the sample moments of N(0, 1): variances 1, 2, 15, 96 over N.
  EXPECT_LT(std::abs(z.mean().item<double>()), 5 * std::sqrt(1 / N));
  EXPECT_LT(std::abs(z.pow(2).mean().item<double>() - 1), 5 * std::sqrt(2 / N));
  EXPECT_LT(std::abs(z.pow(3).mean().item<double>()), 5 * std::sqrt(15 / N));
  EXPECT_LT(std::abs(z.pow(4).mean().item<double>() - 3), 5 * std::sqrt(96 / N));
  const double beyond_3 = (z.abs() > 3).to(at::kDouble).mean().item<double>();
  EXPECT_LT(std::abs(beyond_3 - 0.0026997960632601866), 5 * std::sqrt(0.0027 / N));
}

/// On a GPU the same numbers, not only the same law: a run moves between machines and stays what it was.
TEST(Random, AGpuDrawsTheNumbersOfTheCpu) {
  if (!at::hasCUDA()) GTEST_SKIP() << "no GPU here";
  for (const auto type : {at::kDouble, at::kFloat}) {
    const auto like = shaped(3, 1001, type);
    const double rounding = type == at::kDouble ? 1e-13 : 1e-6;  // numbers up to 6.7, a few units in the last place
    const auto z = normal({7, 5, 9}, Stream::langevin, like.to(at::kCUDA));
    EXPECT_TRUE(z.is_cuda());
    EXPECT_LT((z.cpu() - normal({7, 5, 9}, Stream::langevin, like)).abs().max().item<double>(), rounding);
    const auto u = uniform({7, 5, 9}, Stream::start, like.to(at::kCUDA)).cpu();
    EXPECT_LT((u - uniform({7, 5, 9}, Stream::start, like)).abs().max().item<double>(), rounding);
  }
}

}  // namespace
}  // namespace penumbra
