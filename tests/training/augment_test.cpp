// Warps against shifts, flips and quarter turns that are known exactly; random parameters against their law.
#include "training/augment.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "support/message.h"

namespace penumbra::training {
namespace {

using test::contains;
using test::message_of;

Tensor images(int64_t count, int64_t height = 12, int64_t width = 12, int64_t channels = 1) {
  return uniform({3, 0, 0}, Stream::probe, at::empty({count, channels, height, width}, at::kFloat));
}

double distance(const Tensor& a, const Tensor& b) { return (a - b).abs().max().item<double>(); }

Tensor warp_by(const Tensor& x, const Affine& affine, const WarpOptions& options = {}) {
  return warp(x, affine.inverse().expand({x.size(0), 2, 3}), options);
}

/// Without a frame of so many pixels.
Tensor interior(const Tensor& x, int64_t frame) {
  return x.slice(2, frame, x.size(2) - frame).slice(3, frame, x.size(3) - frame);
}

// Coordinates are float32: about 1e-6 of a pixel off, times the slope between pixels.
constexpr double rounding = 1e-5;

class EveryInterpolation : public testing::TestWithParam<Interpolation> {};
INSTANTIATE_TEST_SUITE_P(Warp, EveryInterpolation, testing::Values(Interpolation::bilinear, Interpolation::bicubic));

TEST_P(EveryInterpolation, IdentityIsTheIdentity) {
  const auto x = images(2, 9, 14);
  EXPECT_LE(distance(warp_by(x, {}, {.interpolation = GetParam()}), x), rounding);
}

TEST_P(EveryInterpolation, QuarterTurnIsRot90) {
  for (const int64_t side : {12, 13}) {
    const auto x = images(2, side, side, 3);
    EXPECT_LE(distance(warp_by(x, {.rotation = 90}, {.interpolation = GetParam()}), at::rot90(x, 1, {2, 3})), rounding);
  }
}

TEST_P(EveryInterpolation, HalfTurnIsBothFlips) {
  const auto x = images(2, 8, 15);
  EXPECT_LE(distance(warp_by(x, {.rotation = 180}, {.interpolation = GetParam()}), x.flip({2, 3})), rounding);
}

TEST_P(EveryInterpolation, WholePixelsAreAShift) {
  const auto x = images(2, 10, 16);
  const auto shifted = warp_by(x, {.right = 3, .down = -2}, {.interpolation = GetParam()});
  EXPECT_LE(distance(interior(shifted, 3), interior(x.roll({-2, 3}, {2, 3}), 3)), rounding);
}

TEST(Warp, KeepsALinearRampLinear) {
  const auto x = (at::arange(16, at::kFloat).reshape({1, 1, 1, 16}) * 0.05).expand({1, 1, 16, 16}).contiguous();
  const auto enlarged = warp_by(x, {.scale = 2}, {.interpolation = Interpolation::bilinear});
  const auto expected = 0.05 * (7.5 + (at::arange(16, at::kFloat) - 7.5) / 2);
  EXPECT_LE(distance(enlarged, expected.expand({1, 1, 16, 16})), rounding);
  // Vertical lines lean by 45 degrees: a row below the centre by one pixel shows what lies one pixel to the left.
  const auto leaning = warp_by(x, {.shear = 45}, {.interpolation = Interpolation::bilinear});
  EXPECT_NEAR(leaning[0][0][10][8].item<float>(), 0.05 * (8 - 2.5), rounding);
}

TEST(Warp, TurnsPixelsThatAreNoSquareOfThem) {
  // A disc stays a disc in a wide image: turning is in pixels, not in shares of the sides.
  const auto x = at::arange(31, at::kFloat) - 15, y = at::arange(17, at::kFloat) - 8;
  const auto disc = at::exp(-(x.square().unsqueeze(0) + y.square().unsqueeze(1)) / 8).reshape({1, 1, 17, 31});
  // Cubic interpolation errs by 0.02 here; turning in shares of the sides would by ten times as much.
  EXPECT_LE(distance(warp_by(disc, {.rotation = 37}), disc), 0.03);
}

TEST(Warp, FillsWhatLiesOutsideAsAsked) {
  const auto x = at::arange(8, at::kFloat).expand({1, 1, 8, 8}).contiguous() / 8;
  const auto left_columns = [&](Border border) {
    const auto shifted =
        warp_by(x, {.right = 2}, {.interpolation = Interpolation::bilinear, .border = border, .fill = 0.75});
    return std::pair(8 * shifted[0][0][4][0].item<float>(), 8 * shifted[0][0][4][1].item<float>());
  };
  const auto near = [](std::pair<float, float> found, float a, float b) {
    EXPECT_NEAR(found.first, a, 1e-4);
    EXPECT_NEAR(found.second, b, 1e-4);
  };
  near(left_columns(Border::reflect), 1, 0);
  near(left_columns(Border::edge), 0, 0);
  near(left_columns(Border::constant), 6, 6);
}

TEST(Augment, ChangesNothingUnlessAsked) {
  const auto x = images(4);
  EXPECT_TRUE(at::equal(augment(x, {}, {1, 0, 7}), x));
}

TEST(Augment, LeavesUnwarpedImagesTheirBits) {
  const auto x = images(200);
  const auto y = augment(x, {.unwarped = 0.4, .rotation = 20, .scale = 0.2}, {1, 0, 7});
  const auto same = (x == y).flatten(1).all(1).sum().item<int64_t>();
  EXPECT_NEAR(same, 80, 28);  // 4 standard deviations of a binomial count
  EXPECT_TRUE(at::equal(augment(x, {.unwarped = 1, .rotation = 20}, {1, 0, 7}), x));
}

TEST(Augment, FlipsExactly) {
  const auto x = images(3, 9, 14, 3);
  EXPECT_TRUE(at::equal(augment(x, {.horizontal_flip = 1}, {1, 0, 0}), x.flip(3)));
  EXPECT_TRUE(at::equal(augment(x, {.vertical_flip = 1}, {1, 0, 0}), x.flip(2)));
}

TEST(Augment, FlipsAsOftenAsAsked) {
  const auto x = images(2000, 2, 2);
  const auto flipped_right = (augment(x, {.horizontal_flip = 0.5}, {1, 0, 3}) == x.flip(3)).flatten(1).all(1);
  const auto flipped_down = (augment(x, {.vertical_flip = 0.3}, {1, 0, 3}) == x.flip(2)).flatten(1).all(1);
  EXPECT_NEAR(flipped_right.sum().item<int64_t>(), 1000, 90);  // 4 standard deviations
  EXPECT_NEAR(flipped_down.sum().item<int64_t>(), 600, 82);
  // Independent of one another: 300 of both, standard deviation 16.
  EXPECT_NEAR(flipped_right.logical_and(flipped_down).sum().item<int64_t>(), 300, 65);
}

constexpr AugmentOptions everything{.horizontal_flip = 0.5,
                                    .vertical_flip = 0.5,
                                    .unwarped = 0.3,
                                    .rotation = 10,
                                    .shear = 5,
                                    .scale = 0.1,
                                    .translation = 0.1,
                                    .brightness = 0.1,
                                    .contrast = 0.2,
                                    .gamma = 0.2};

TEST(Augment, DependsOnTheRowAndNotOnTheSplit) {
  const auto x = images(10);
  const auto whole = augment(x, everything, {4, 0, 9});
  const auto parts =
      at::cat({augment(x.slice(0, 0, 3), everything, {4, 0, 9}), augment(x.slice(0, 3), everything, {4, 3, 9})});
  EXPECT_LE(distance(whole, parts), 1e-6);
  EXPECT_TRUE(at::equal(whole, augment(x, everything, {4, 0, 9})));
}

TEST(Augment, DiffersBetweenSeedsStepsAndRows) {
  const auto x = images(1).expand({4, -1, -1, -1}).contiguous();
  const auto y = augment(x, everything, {4, 0, 9});
  EXPECT_GT(distance(y, augment(x, everything, {5, 0, 9})), 0.01);
  EXPECT_GT(distance(y, augment(x, everything, {4, 0, 10})), 0.01);
  EXPECT_GT(distance(y[0], y[1]), 0.01);
}

TEST(Augment, StaysInTheRange) {
  auto options = everything;
  options.low = 0.2;
  options.high = 0.6;
  const auto y = augment(0.2 + 0.4 * images(50), options, {1, 0, 0});
  EXPECT_GE(y.min().item<float>(), 0.2F);
  EXPECT_LE(y.max().item<float>(), 0.6F);
}

TEST(Augment, MovesIntensitiesWithinTheirSpread) {
  // Mid-gray between 1 and 3 is 2; a quarter of the range above it is 2.5.
  const auto x = at::full({3000, 1, 1, 1}, 2.5, at::kDouble);
  const auto run = [&](AugmentOptions options) {
    options.low = 1;
    options.high = 3;
    return augment(x, options, {1, 0, 0}).flatten();
  };
  const auto expect_range = [](const Tensor& y, double low, double high) {
    const auto span = high - low;
    EXPECT_GE(y.min().item<double>(), low);
    EXPECT_LE(y.min().item<double>(), low + 0.01 * span);
    EXPECT_LE(y.max().item<double>(), high);
    EXPECT_GE(y.max().item<double>(), high - 0.01 * span);
  };
  expect_range(run({.brightness = 0.1}), 2.3, 2.7);
  expect_range(run({.contrast = 0.25}), 2 + 0.5 / 1.25, 2 + 0.5 * 1.25);
  expect_range(run({.gamma = 0.25}), 1 + 2 * std::pow(0.75, 1.25), 1 + 2 * std::pow(0.75, 1 / 1.25));
}

AugmentOptions augment_of(const std::string& text) {
  auto settings = Settings::from_text(text, "c.yaml");
  const auto options = augment_setting(settings.section("augment"), 0, 1);
  settings.finish();
  return options;
}

TEST(AugmentSetting, HasTheDocumentedDefaults) {
  const auto options = augment_of("");
  EXPECT_EQ(options.horizontal_flip, 0.5);
  EXPECT_EQ(options.vertical_flip, 0);
  EXPECT_EQ(options.unwarped, 0.5);
  EXPECT_EQ(options.rotation, 5);
  EXPECT_EQ(options.scale, 0.05);
  EXPECT_EQ(options.translation, 0.05);
  EXPECT_EQ(options.brightness, 0);
  EXPECT_EQ(options.warp.interpolation, Interpolation::bicubic);
  EXPECT_EQ(options.warp.border, Border::reflect);
}

TEST(AugmentSetting, CanBeSwitchedOff) {
  const auto x = images(4);
  EXPECT_TRUE(at::equal(augment(x, augment_of("augment: {enabled: false, rotation: 40}"), {1, 0, 0}), x));
}

TEST(AugmentSetting, TakesABorderByNameOrValue) {
  EXPECT_EQ(augment_of("augment: {border: edge}").warp.border, Border::edge);
  const auto constant = augment_of("augment: {border: 0.25}").warp;
  EXPECT_EQ(constant.border, Border::constant);
  EXPECT_EQ(constant.fill, 0.25);
}

TEST(AugmentSetting, RefusesWhatMakesNoSense) {
  const auto error = [](const std::string& text) { return message_of([&] { augment_of(text); }); };
  EXPECT_TRUE(contains(error("augment: {rotation: -3}"), "augment.rotation"));
  EXPECT_TRUE(contains(error("augment: {horizontal_flip: 2}"), "augment.horizontal_flip"));
  EXPECT_TRUE(contains(error("augment: {border: mirror}"), "augment.border"));
  EXPECT_TRUE(contains(error("augment: {rotations: 3}"), "rotation"));
}

}  // namespace
}  // namespace penumbra::training
