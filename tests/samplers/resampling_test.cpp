#include "samplers/resampling.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

namespace penumbra {
namespace {

Tensor logs(const std::vector<double>& weights) { return at::tensor(weights, at::kDouble).log(); }

TEST(Resampling, EffectiveCountIsThatOfTheWeights) {
  EXPECT_NEAR(effective_count(logs({1, 1, 1, 1})), 4, 1e-12);
  EXPECT_NEAR(effective_count(logs({1, 1e-300, 1e-300})), 1, 1e-12);
  EXPECT_NEAR(effective_count(logs({2, 1}) + 1e4), 9.0 / 5, 1e-9) << "no overflow";
  EXPECT_NEAR(log_mean_exp(logs({2, 4}) - 1e4), std::log(3.0) - 1e4, 1e-9);
}

/// Each is taken floor(N w) or ceil(N w) times, N w on average over the uniform number, and keeps its place if at all.
TEST(Resampling, IsSystematic) {
  const std::vector<double> w{0.05, 0.3, 0.13, 0.02, 0.5};
  const auto n = static_cast<int64_t>(w.size());
  std::vector<double> mean(w.size());
  constexpr int rounds = 4000;
  for (int64_t k = 0; k < rounds; ++k) {
    const auto chosen = systematic_resampling(logs(w), {3, 0, k});
    for (int64_t i = 0; i < n; ++i) {
      const auto times = chosen.eq(i).sum().item<int64_t>();
      const double expected = static_cast<double>(n) * w[static_cast<size_t>(i)];
      EXPECT_GE(static_cast<double>(times), std::floor(expected));
      EXPECT_LE(static_cast<double>(times), std::ceil(expected));
      mean[static_cast<size_t>(i)] += static_cast<double>(times) / rounds;
      EXPECT_TRUE(times == 0 || chosen[i].item<int64_t>() == i);
    }
  }
  // A count of variance at most 1/4: four standard errors.
  for (size_t i = 0; i < w.size(); ++i) EXPECT_NEAR(mean[i], 5 * w[i], 4 * 0.5 / std::sqrt(rounds));
}

}  // namespace
}  // namespace penumbra
