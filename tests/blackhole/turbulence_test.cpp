// The turbulence's moments, its closure around the hole and its trailing spirals.
#include "blackhole/turbulence.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "core/random.h"

namespace penumbra::blackhole {
namespace {

using std::numbers::pi;

Turbulence field(const TurbulenceOptions& options, int64_t number) {
  const auto count = Turbulence::numbers_needed(options.arms);
  const auto drawn = normal({1, number, 0}, Stream::probe, at::empty({1, count}, at::kDouble));
  return {options, {drawn.data_ptr<double>(), static_cast<size_t>(count)}};
}

constexpr int fields = 400;

TEST(Turbulence, IsLogNormalOfMeanOne) {
  const TurbulenceOptions options{.contrast = 0.5};
  double mean = 0, log_mean = 0, square = 0;
  for (int i = 0; i < fields; ++i) {
    // One place of each field: independent draws.
    const double value = field(options, i)(1.3F, 0.7F), log = std::log(value);
    mean += value / fields;
    log_mean += log / fields;
    square += log * log / fields;
  }
  // SD of the mean 0.53 / 20, of the logarithm's 0.5 / 20, of its variance 0.25 sqrt(2 / 400); four of each. Between
  // the points of the stored table the passage is linear, which takes a few per cent of the variance.
  EXPECT_NEAR(mean, 1, 0.11);
  EXPECT_NEAR(log_mean, -0.125, 0.1);
  EXPECT_NEAR(square - log_mean * log_mean, 0.25, 0.08);
}

TEST(Turbulence, ClosesAroundTheHole) {
  const auto turbulence = field({}, 0);
  for (const float x : {0.2F, 1.0F, 3.0F}) {
    EXPECT_NEAR(turbulence(x, 0.001F), turbulence(x, static_cast<float>(2 * pi) - 0.001F), 0.05);
    EXPECT_NEAR(turbulence(x, 1.0F), turbulence(x, 1.0F + static_cast<float>(4 * pi)), 1e-3);
    EXPECT_NEAR(turbulence(x, 1.0F), turbulence(x, 1.0F - static_cast<float>(2 * pi)), 1e-3);
  }
}

TEST(Turbulence, TrailsInSpirals) {
  // Outwards by 0.3 in ln r: along the spiral the azimuth goes back by winding x 0.3.
  const TurbulenceOptions options{.contrast = 0.5, .winding = 3};
  double along = 0, leading = 0;
  for (int i = 0; i < fields; ++i) {
    const auto turbulence = field(options, i);
    const double here = std::log(turbulence(1, 2)) + 0.125;
    along += here * (std::log(turbulence(1.3F, 2 - 0.9F)) + 0.125) / fields;
    leading += here * (std::log(turbulence(1.3F, 2 + 0.9F)) + 0.125) / fields;
  }
  // SD of either mean: 0.25 / 20.
  EXPECT_GT(along, leading + 0.08);
}

TEST(Turbulence, IsPositiveAndFiniteBeyondItsTable) {
  const auto turbulence = field({.contrast = 1.5}, 3);
  for (const float x : {-5.0F, 0.0F, 4.1F, 9.0F})
    for (const float phi : {-100.0F, -1e-9F, 0.0F, 6.2831853F, 100.0F}) {
      const float value = turbulence(x, phi);
      EXPECT_TRUE(std::isfinite(value) && value > 0) << x << " " << phi << ": " << value;
    }
}

TEST(Turbulence, ShowsAHotSpotWhereItIs) {
  auto turbulence = field({.contrast = 0.1}, 0);
  turbulence.add({1.5, 0.05, 0.2, 10});
  EXPECT_GT(turbulence(1.5F, 0.05F), 10);
  EXPECT_GT(turbulence(1.5F, static_cast<float>(2 * pi)), 9);
  EXPECT_LT(turbulence(1.5F, 3.0F), 2);
  EXPECT_LT(turbulence(3.0F, 0.05F), 2);
}

}  // namespace
}  // namespace penumbra::blackhole
