// Images of black holes: functions of (seed, index), with the ring, the beaming and the symmetries that physics
// demands.
#include "blackhole/image.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "blackhole/sky.h"

namespace penumbra::blackhole {
namespace {

using std::numbers::pi;

constexpr int64_t size = 64;

/// A smooth flow to the horizon and nothing else.
Scene smooth(double spin, double inclination) {
  Scene scene{};
  scene.spin = spin;
  scene.inclination = inclination;
  scene.diameter = 0.4;
  scene.slope = 3;
  scene.inner_edge = 2;
  scene.sharpness = 4;
  scene.outer_edge = 20;
  scene.thickness = 0.15;
  scene.redshift_power = 2.5;
  scene.turbulence = {.contrast = 0};
  scene.blur = 0.006;
  scene.peak = 1;
  return scene;
}

float pixel(const std::vector<float>& image, int64_t row, int64_t column) { return image[row * size + column]; }

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) largest = std::max<double>(largest, std::abs(a[i] - b[i]));
  return largest;
}

TEST(BlackHoleImage, DependsOnSeedAndIndexAlone) {
  const ImageOptions options{.seed = 7};
  const auto third = generate(options, 3), fourth = generate(options, 4);
  EXPECT_EQ(generate(options, 3), third);
  EXPECT_GT(largest_difference(third, fourth), 0.1);
  EXPECT_GT(largest_difference(third, generate({.seed = 8}, 3)), 0.1);
}

TEST(BlackHoleImage, LiesInItsRangeWithItsPeak) {
  const ImageOptions options{.seed = 2};
  for (int64_t i = 0; i < 30; ++i) {
    const auto image = generate(options, i);
    ASSERT_EQ(image.size(), 64U * 64);
    const auto [low, high] = std::minmax_element(image.begin(), image.end());
    EXPECT_GE(*low, 0);
    EXPECT_NEAR(*high, scene_of(options, i).peak, 1e-5);
  }
}

TEST(BlackHoleImage, ShowsTheSameAtAnotherResolution) {
  // Halving an image of 64 gives that of 32, both of one flux, but for what rays of a pixel's ninth and thirty-sixth
  // miss.
  auto scene = smooth(0.5, 1);
  scene.blur = 0.02;
  const auto fine = render(scene, {.size = 64}, 0), coarse = render(scene, {.size = 32}, 0);
  const double fine_flux = std::accumulate(fine.begin(), fine.end(), 0.0);
  const double flux = std::accumulate(coarse.begin(), coarse.end(), 0.0);
  double difference = 0;
  for (int64_t i = 0; i < 32 * 32; ++i) {
    const int64_t row = 2 * (i / 32), column = 2 * (i % 32);
    const double sum = pixel(fine, row, column) + pixel(fine, row + 1, column) + pixel(fine, row, column + 1) +
                       pixel(fine, row + 1, column + 1);
    difference += std::abs(sum / fine_flux - coarse[i] / flux);
  }
  EXPECT_LT(difference, 0.03);
}

TEST(BlackHoleImage, HasThePhotonRingAtTheShadowsEdge) {
  // Face on, without spin: brightness peaks at sqrt(27) r_g. The lensed image lies within 3 % outside of it and a pixel
  // is 8 % of the radius, so the brightest ring of pixels is the one that holds 0.2 of the field.
  auto scene = smooth(0, 0.0);
  scene.diameter = 0.4;
  scene.thickness = 0.1;
  scene.inner_edge = 4.5;
  const auto image = render(scene, {}, 0);
  std::vector<double> sum(size, 0.0), count(size, 0.0);
  for (int64_t row = 0; row < size; ++row)
    for (int64_t column = 0; column < size; ++column) {
      const double distance = std::hypot(static_cast<double>(row) - 31.5, static_cast<double>(column) - 31.5);
      sum[static_cast<size_t>(distance)] += pixel(image, row, column);
      ++count[static_cast<size_t>(distance)];
    }
  for (size_t i = 0; i < 32; ++i) sum[i] /= count[i];
  const auto brightest = std::max_element(sum.begin(), sum.begin() + 32) - sum.begin();
  EXPECT_NEAR(static_cast<double>(brightest) + 0.5, 0.2 * size, 1);
  // Within lies the shadow, of an outside that is not dark.
  EXPECT_LT(sum[4], 0.2 * sum[brightest]);
}

TEST(BlackHoleImage, IsRoundFaceOn) {
  const auto image = render(smooth(0.5, 0), {}, 0);
  // The corners of a square about the middle see the same; so do its sides.
  for (int64_t d = 1; d < 30; d += 4) {
    EXPECT_NEAR(pixel(image, 31 - d, 31 - d), pixel(image, 32 + d, 32 + d), 2e-3);
    EXPECT_NEAR(pixel(image, 31 - d, 31), pixel(image, 32, 32 + d), 2e-3);
  }
}

TEST(BlackHoleImage, IsBrighterWhereMatterComesNear) {
  // The axis points up and the flow turns against the clock seen from above: it comes near on the left.
  const auto image = render(smooth(0.5, 1.1), {}, 0);
  double left = 0, right = 0;
  for (int64_t row = 0; row < size; ++row)
    for (int64_t column = 0; column < size / 2; ++column) {
      left += pixel(image, row, column);
      right += pixel(image, row, size - 1 - column);
    }
  EXPECT_GT(left, 2 * right);
}

TEST(BlackHoleImage, MirrorsAndTurns) {
  auto scene = scene_of({.seed = 3}, 0);
  scene.shift_x = scene.shift_y = scene.position_angle = scene.asymmetry = scene.halo.brightness = 0;
  scene.mirrored = false;
  const auto image = render(scene, {}, 0);
  scene.mirrored = true;
  const auto mirrored = render(scene, {}, 0);
  scene.mirrored = false;
  scene.position_angle = pi / 2;
  const auto turned = render(scene, {}, 0);
  for (int64_t row = 0; row < size; ++row)
    for (int64_t column = 0; column < size; ++column) {
      // Single precision in places that are computed in another order.
      EXPECT_NEAR(pixel(mirrored, row, size - 1 - column), pixel(image, row, column), 1e-3);
      // Up becomes left.
      EXPECT_NEAR(pixel(turned, size - 1 - column, row), pixel(image, row, column), 1e-3);
    }
}

TEST(BlackHoleImage, ShadowsAreDarkerThanTheirRings) {
  // Without jet and halo, from above: what a telescope is sent for.
  for (const double spin : {-0.9, 0.0, 0.9}) {
    const auto image = render(smooth(spin, 0.4), {}, 0);
    EXPECT_LT(pixel(image, 31, 31), 0.5);
  }
}

TEST(BlackHoleImage, KeepsToTheRangesThatItIsGiven) {
  ImageOptions options{.seed = 1};
  options.ranges.spin = {0.9, 0.9};
  options.ranges.inclination = {17, 17};
  options.ranges.diameter = {0.3, 0.31};
  for (int64_t i = 0; i < 20; ++i) {
    const auto scene = scene_of(options, i);
    EXPECT_EQ(scene.spin, 0.9);
    EXPECT_NEAR(scene.inclination, 17 * pi / 180, 1e-6);
    EXPECT_TRUE(scene.diameter >= 0.3 && scene.diameter <= 0.31);
  }
}

TEST(BlackHoleImage, IsFiniteAtTheEndsOfAllRanges) {
  for (const double spin : {-0.998, 0.0, 1e-5, 0.998})
    for (const double inclination : {0.0, 1e-4, pi / 2}) {
      const auto image = render(smooth(spin, inclination), {.size = 16}, 0);
      for (const float value : image) ASSERT_TRUE(std::isfinite(value)) << spin << " " << inclination;
      EXPECT_NEAR(*std::max_element(image.begin(), image.end()), 1, 1e-6);
    }
}

TEST(SkyGrid, InterpolatesWhereItsGridIsAndReachesItsExtent) {
  const Sky sky(0.9, 1.2, 20);
  std::vector<float> across;
  double nearest = 1e9;
  for (int ring = 0; ring < sky.rings(); ++ring)
    for (int direction = 0; direction < sky.directions(); ++direction) {
      const auto at = sky.place(ring, direction);
      across.push_back(static_cast<float>(at.alpha - sky.middle()));
      if (ring == sky.rings() - 1) nearest = std::min(nearest, std::hypot(at.alpha - sky.middle(), at.beta));
    }
  EXPECT_GE(nearest, 20);
  for (const float x : {-14.0F, -5.0F, -0.5F, 3.0F, 8.0F})
    for (const float y : {-9.0F, 0.3F, 6.0F})
      // Chords of 1/128 turn: relative 1 - cos(pi / 128) = 3e-4; of sinh over a cell of 0.12: 0.12^2 / 8 = 2e-3.
      EXPECT_NEAR(sky.interpolate(across, x, y), x, 3e-3 * std::hypot(x, y));
}

}  // namespace
}  // namespace penumbra::blackhole
