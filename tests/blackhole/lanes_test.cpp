// The functions of four numbers at once against those of the standard library.
#include "blackhole/lanes.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "blackhole/flow.h"

namespace penumbra::blackhole {
namespace {

TEST(Lanes, LogarithmIsThatOfTheLibrary) {
  for (double x = 1e-9; x < 1e9; x *= 1.37)
    EXPECT_NEAR(logarithm(all_lanes(x))[1], std::log(x), 3e-7 * std::max(1.0, std::abs(std::log(x)))) << x;
}

TEST(Lanes, ExponentialIsThatOfTheLibrary) {
  // The argument's own rounding costs 87 x 6e-8.
  for (double x = -86; x < 86; x += 0.713)
    EXPECT_NEAR(exponential(all_lanes(x))[2] / std::exp(static_cast<double>(static_cast<float>(x))), 1, 1e-5) << x;
  EXPECT_LT(exponential(all_lanes(-1e6))[0], 1e-37);
}

TEST(Lanes, AngleIsThatOfTheLibrary) {
  for (double phi = -3.14; phi < 3.14; phi += 0.01) {
    const auto x = static_cast<float>(0.3 * std::cos(phi)), y = static_cast<float>(0.3 * std::sin(phi));
    EXPECT_NEAR(angle_of(all_lanes(y), all_lanes(x))[3], phi, 2e-5);
  }
  EXPECT_TRUE(std::isfinite(angle_of(Lanes{}, Lanes{})[0]));
}

TEST(Lanes, DoNotMix) {
  const Lanes x{1, 2, 4, 8};
  for (int i = 0; i < lane_count; ++i) {
    EXPECT_NEAR(logarithm(x)[i], std::log(x[i]), 1e-6);
    EXPECT_NEAR(root(x)[i], std::sqrt(x[i]), 1e-6);
  }
  EXPECT_TRUE(any(x > 7));
  EXPECT_FALSE(any(x > 8));
}

TEST(Lanes, RedshiftIsThatOfDoublePrecision) {
  for (const double r : {2.2, 4.0, 9.0, 40.0}) {
    const auto motion = shell_motion(0.8, r, {0.8, 0.3});
    const auto l = motion.specific_momentum * 0.9, velocity = motion.radial_velocity;
    const auto exact = redshift(0.8, EmittedPhoton<double>{1 / r, std::sqrt(0.1), -2, 0.3}, l, velocity);
    const EmittedPhoton<Lanes> photon{all_lanes(1 / r), all_lanes(std::sqrt(0.1)), all_lanes(-2), all_lanes(0.3)};
    // Single precision where terms of r^4 cancel near the horizon.
    EXPECT_NEAR(redshift(all_lanes(0.8), photon, all_lanes(l), all_lanes(velocity))[0], exact, 1e-4 * exact);
  }
}

}  // namespace
}  // namespace penumbra::blackhole
