#include "diagnostics/ring.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"
#include "core/random.h"

namespace penumbra::diagnostics {
namespace {

constexpr double fov = 128;

struct Truth {
  double diameter = 42, width = 12, asymmetry = 0, orientation = 0, east = 0, north = 0;
  int64_t side = 64;
};

/// A circle with a Gaussian profile across it and the brightness 1 + 2 A cos(phi - orientation) along it.
Tensor ring_image(const Truth& t) {
  const double pixel = fov / static_cast<double>(t.side), sd = t.width / std::sqrt(8 * std::log(2.0));
  const auto place = (static_cast<double>(t.side - 1) / 2 - at::arange(t.side, at::kDouble)) * pixel;
  const auto east = place.unsqueeze(0) - t.east, north = place.unsqueeze(1) - t.north;
  const auto r = (east.square() + north.square()).sqrt(), phi = at::atan2(east, north);
  return at::exp(-(r - t.diameter / 2).square() / (2 * sd * sd)) *
         (1 + 2 * t.asymmetry * at::cos(phi - t.orientation * M_PI / 180));
}

Ring ring_of(const Truth& truth, double blur = -1) {
  const auto ring = find_ring(ring_image(truth), {.fov = fov, .blur = blur});
  EXPECT_TRUE(ring.has_value());
  return ring.value_or(Ring{});
}

double turned_by(double a, double b) { return std::abs(std::remainder(a - b, 360)); }

TEST(Ring, DiameterToOnePercentAndWidthToFive) {
  for (const double diameter : {30.0, 42.0, 60.0})
    for (const double width : {8.0, 12.0, 16.0}) {
      const auto ring = ring_of({.diameter = diameter, .width = width});
      EXPECT_NEAR(ring.diameter / diameter, 1, 0.01) << diameter << ", " << width;
      EXPECT_NEAR(ring.width / width, 1, 0.05) << diameter << ", " << width;
      EXPECT_LT(ring.asymmetry, 0.02);
    }
}

TEST(Ring, OrientationToOneDegreeAndAsymmetryToFivePercent) {
  for (const double A : {0.1, 0.25, 0.5})
    for (const double orientation : {0.0, 90.0, -135.0, 17.0, 179.0}) {
      const auto ring = ring_of({.asymmetry = A, .orientation = orientation});
      EXPECT_LT(turned_by(ring.orientation, orientation), 1) << A << ", " << orientation;
      EXPECT_NEAR(ring.asymmetry / A, 1, 0.05) << A << ", " << orientation;
      EXPECT_NEAR(ring.diameter / 42, 1, 0.01) << A << ", " << orientation;
    }
}

TEST(Ring, IsFoundWhereItIs) {
  const auto ring = ring_of({.asymmetry = 0.3, .orientation = 200, .east = 11, .north = -6.5});
  EXPECT_NEAR(ring.east, 11, 0.2);  // a tenth of a pixel
  EXPECT_NEAR(ring.north, -6.5, 0.2);
  EXPECT_NEAR(ring.diameter, 42, 0.42);
  EXPECT_LT(turned_by(ring.orientation, 200), 1);
}

TEST(Ring, TheBlurIsTakenOutOfTheWidth) {
  const auto ring = ring_of({.diameter = 60, .width = 8}, 8);
  EXPECT_NEAR(ring.width / 8, 1, 0.05);
  EXPECT_NEAR(ring.diameter / 60, 1, 0.01);
}

TEST(Ring, WhereThereIsNoneThereIsNoNumber) {
  const RingOptions options{.fov = fov};
  EXPECT_FALSE(find_ring(at::zeros({64, 64}), options));
  EXPECT_FALSE(find_ring(-at::ones({64, 64}), options));
  EXPECT_FALSE(find_ring(at::ones({64, 64}), options)) << "an even surface";
  EXPECT_FALSE(find_ring(ring_image({.diameter = 0, .width = 30}), options)) << "a blob";
  auto points = at::zeros({64, 64}, at::kDouble);
  points[20][20] = points[40][44] = 1;
  EXPECT_FALSE(find_ring(points, options)) << "a double source";
  for (uint64_t seed = 0; seed < 5; ++seed)
    EXPECT_FALSE(find_ring(uniform({seed, 0, 0}, Stream::truth, at::empty({64, 64}, at::kDouble)), options)) << "noise";
}

TEST(Ring, BlackIsNoLight) {
  const auto image = ring_image({.width = 12});
  const auto a = find_ring(image, {.fov = fov}), b = find_ring(2 * image - 1, {.fov = fov, .black = -1});
  ASSERT_TRUE(a && b);
  EXPECT_NEAR(a->diameter, b->diameter, 1e-9);
  EXPECT_NEAR(a->width, b->width, 1e-9);
}

TEST(Ring, RefusesWhatIsNoImage) {
  EXPECT_THROW(find_ring(at::zeros({1, 8, 8}), {.fov = fov}), InputError);
  EXPECT_THROW(find_ring(at::zeros({8, 8}), {}), InputError);
  EXPECT_THROW(find_ring(at::full({8, 8}, NAN), {.fov = fov}), InputError);
}

TEST(Interval, OfEquallySpacedValues) {
  std::vector<double> values, weights(1000, 1.0);
  for (int i = 0; i < 1000; ++i) values.push_back((i * 7 % 1000 + 0.5) / 1000);  // not in order
  const auto found = interval(values, weights);
  EXPECT_NEAR(found.mean, 0.5, 1e-12);
  EXPECT_NEAR(found.sd, std::sqrt(1 / 12.0), 1e-3);  // (n - 1 below, and a grid)
  EXPECT_NEAR(found.low68, 0.16, 1e-9);
  EXPECT_NEAR(found.high95, 0.975, 1e-9);
}

TEST(Interval, WeightsStandForCopies) {
  const auto a = interval({1, 2, 3, 3, 3}, {1, 1, 1, 1, 1}), b = interval({1, 2, 3}, {1, 1, 3});
  EXPECT_NEAR(a.mean, b.mean, 1e-12);
  EXPECT_EQ(interval({1, 2, 9}, {1, 1, 0}).high95, 2);
}

TEST(Interval, OfAnglesDoesNotBreakAtHalfATurn) {
  std::vector<double> angles, weights(101, 1.0);
  for (int i = -50; i <= 50; ++i) angles.push_back(std::remainder(180 + 0.2 * i, 360));
  const auto found = circular_interval(angles, weights);
  EXPECT_NEAR(turned_by(found.mean, 180), 0, 1e-9);
  EXPECT_NEAR(found.high68 - found.low68, 0.68 * 20.2, 1e-6);
  EXPECT_NEAR(found.sd, 20.2 / std::sqrt(12.0), 0.02);
}

}  // namespace
}  // namespace penumbra::diagnostics
