#include "diagnostics/weighted.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "core/random.h"
#include "diagnostics/quantiles.h"
#include "support/numbers.h"

namespace penumbra::diagnostics {
namespace {

using test::largest;

const std::vector<double> probabilities{0, 0.025, 0.5, 0.8, 1};

Tensor some_draws() { return normal({1, 0, 0}, Stream::truth, at::empty({5, 8, 1, 3, 2}, at::kDouble)); }

TEST(Weighted, EqualWeightsAreNone) {
  const auto x = some_draws();
  const auto all = x.flatten(0, 1);
  const std::vector<double> same(8, 0.3);
  const auto found = weighted_moments(x, same);
  EXPECT_LT(largest(found.mean - all.mean(0)), 1e-13);
  EXPECT_LT(largest(found.sd - all.std(0)), 1e-13);
  EXPECT_LT(largest(weighted_quantiles(x, same, probabilities) - quantiles(x, probabilities)), 1e-12);
}

TEST(Weighted, AChainOfWeightZeroIsNotThere) {
  const auto x = some_draws();
  std::vector<double> weights(8, 1);
  weights[7] = 0;
  const auto rest = x.narrow(1, 0, 7);
  const auto found = weighted_moments(x, weights);
  EXPECT_LT(largest(found.mean - rest.flatten(0, 1).mean(0)), 1e-13);
  EXPECT_LT(largest(found.sd - rest.flatten(0, 1).std(0)), 1e-13);
  EXPECT_LT(largest(weighted_quantiles(x, weights, probabilities) - quantiles(rest, probabilities)), 1e-12);
}

// Three of four chains at 0, one at 10 that counts nine times as much as any other: 3/4 of the weight.
TEST(Weighted, AHeavyChainTakesTheMedian) {
  auto x = some_draws();
  x.narrow(1, 3, 1) += 10;
  const auto four = x.narrow(1, 0, 4);
  const auto median = weighted_quantiles(four, {1, 1, 1, 9}, {0.5});
  EXPECT_GT(median.min().item<double>(), 5);
  EXPECT_LT(quantiles(four, {0.5}).max().item<double>(), 5);
  const auto mean = (four.select(1, 0) + four.select(1, 1) + four.select(1, 2) + 9 * four.select(1, 3)).mean(0) / 12;
  EXPECT_LT(largest(weighted_moments(four, {1, 1, 1, 9}).mean - mean), 1e-13);
}

TEST(Weighted, OneDrawHasNoSpread) {
  EXPECT_TRUE(weighted_moments(at::ones({1, 1, 2}, at::kDouble), {1}).sd.isnan().all().item<bool>());
}

TEST(Weighted, RefusesWhatIsNoWeight) {
  EXPECT_THROW(weighted_moments(some_draws(), {1, 2}), InputError);
  EXPECT_THROW(weighted_moments(some_draws(), std::vector<double>(8, 0)), InputError);
  EXPECT_THROW(weighted_quantiles(some_draws(), std::vector<double>(8, -1), {0.5}), InputError);
}

}  // namespace
}  // namespace penumbra::diagnostics
