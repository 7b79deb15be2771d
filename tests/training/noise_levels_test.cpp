// The laws of the noise levels against their closed forms.
#include "training/noise_levels.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "support/message.h"

namespace penumbra::training {
namespace {

constexpr int64_t levels_count = 10000;

/// Evenly over (0, 1), and both ends.
Tensor unit_interval() {
  const auto middles = (at::arange(levels_count, at::kDouble) + 0.5) / static_cast<double>(levels_count);
  return at::cat({middles, at::tensor({0.0, 1e-300, 1e-12, 1 - 1e-12, 1.0}, at::kDouble)});
}

double normal_cdf(double z) { return std::erfc(-z / std::sqrt(2.0)) / 2; }

double log_uniform_cdf(const NoiseLevels& levels, double sigma) {
  return std::log(sigma / levels.low) / std::log(levels.high / levels.low);
}

double truncated_cdf(const NoiseLevels& levels, double sigma) {
  const auto below = [&](double s) { return normal_cdf(std::log(s / levels.median) / levels.spread); };
  return (below(sigma) - below(levels.low)) / (below(levels.high) - below(levels.low));
}

void expect_inside(const NoiseLevels& levels) {
  const auto sigma = levels(unit_interval());
  // exp(log(.)) rounds.
  EXPECT_GE(sigma.min().item<double>(), levels.low * (1 - 1e-14));
  EXPECT_LE(sigma.max().item<double>(), levels.high * (1 + 1e-14));
  EXPECT_TRUE(sigma.isfinite().all().item<bool>());
}

const NoiseLevels even{.kind = NoiseLevels::Kind::log_uniform, .low = 0.01, .high = 50};
// Both ends cut off a good part of the normal law.
const NoiseLevels cut{.low = 0.1, .high = 2, .median = 0.3, .spread = 1.2, .uniform_share = 0.25};

TEST(NoiseLevels, LogUniformHasItsQuantiles) {
  const auto quantiles = even(at::tensor({0.0, 0.1, 0.5, 0.9, 1.0}, at::kDouble));
  for (const auto& [i, u] : {std::pair(0, 0.0), {1, 0.1}, {2, 0.5}, {3, 0.9}, {4, 1.0}})
    EXPECT_NEAR(quantiles[i].item<double>(), 0.01 * std::pow(5000, u), 1e-12 * 50);
}

TEST(NoiseLevels, TruncatedLogNormalHasItsQuantiles) {
  auto levels = cut;
  levels.uniform_share = 0;
  const auto u = unit_interval().narrow(0, 0, levels_count), sigma = levels(u);
  for (int64_t i = 0; i < levels_count; i += 97)
    EXPECT_NEAR(truncated_cdf(levels, sigma[i].item<double>()), u[i].item<double>(), 1e-12) << i;
  // Wide bounds cut nothing off: the median is the median.
  const NoiseLevels wide{.low = 1e-9, .high = 1e9, .median = 0.3, .spread = 1.4, .uniform_share = 0};
  EXPECT_NEAR(wide(at::tensor({0.5}, at::kDouble)).item<double>(), 0.3, 1e-12);
  EXPECT_NEAR(wide(at::tensor({normal_cdf(2)}, at::kDouble)).item<double>(), 0.3 * std::exp(2.8), 1e-9);
}

TEST(NoiseLevels, AShareIsLogUniform) {
  const auto sigma = cut(unit_interval().narrow(0, 0, levels_count));
  for (const double s : {0.1, 0.12, 0.2, 0.3, 0.5, 1.0, 1.7, 2.0}) {
    const double found = (sigma <= s).to(at::kDouble).mean().item<double>();
    const double expected = 0.25 * log_uniform_cdf(cut, s) + 0.75 * truncated_cdf(cut, s);
    // Two pieces, each counted to one of the evenly spaced numbers.
    EXPECT_NEAR(found, expected, 2.0 / levels_count) << s;
  }
}

TEST(NoiseLevels, NeverLeaveTheirRange) {
  expect_inside(even);
  expect_inside(cut);
  expect_inside({});
  expect_inside({.low = 0.01, .high = 0.02, .median = 0.01, .spread = 30, .uniform_share = 0.1});
  expect_inside({.low = 1e-3, .high = 1e3, .median = 1e3, .spread = 1e-3, .uniform_share = 0});
}

TEST(NoiseLevels, BandsHaveEqualRatios) {
  const auto edges = even.bands(6);
  ASSERT_EQ(edges.size(), 7U);
  EXPECT_DOUBLE_EQ(edges.front(), 0.01);
  EXPECT_NEAR(edges.back(), 50, 1e-12);
  for (size_t i = 0; i < 6; ++i) EXPECT_NEAR(edges[i + 1] / edges[i], std::pow(5000, 1 / 6.0), 1e-12);
}

TEST(NoiseLevels, RefusesWrongSettings) {
  const auto message = [](const std::string& text) {
    return test::message_of([&] { noise_levels_setting(Settings::from_text(text, "c.yaml")); });
  };
  EXPECT_EQ(message("{low: 0.1, high: 2}"), "");
  EXPECT_TRUE(test::contains(message("{low: 2, high: 0.1}"), "high: expected more than low = 2"));
  EXPECT_TRUE(test::contains(message("{low: 0}"), "low: expected a number in [1e-09, "));
  EXPECT_TRUE(test::contains(message("{high: 1e10}"), "high: expected a number in [1e-09, "));
  EXPECT_TRUE(test::contains(message("{low: 0.5, high: 2, median: 0.3}"), "median: expected a number in [0.5, 2]"));
  EXPECT_EQ(message("{low: 0.5, high: 2}"), "");  // the default median moves into the range
  EXPECT_TRUE(test::contains(message("{kind: normal}"), "kind: expected"));
  EXPECT_EQ(message("{kind: log_uniform, low: 0.5, high: 2}"), "");
}

}  // namespace
}  // namespace penumbra::training
