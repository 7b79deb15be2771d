#include "report/colormap.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"

namespace penumbra::report {
namespace {

/// Relative luminance of sRGB (IEC 61966-2-1).
double luminance(const std::array<uint8_t, 3>& rgb) {
  const auto linear = [](uint8_t byte) {
    const auto v = byte / 255.0;
    return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(rgb[0]) + 0.7152 * linear(rgb[1]) + 0.0722 * linear(rgb[2]);
}

TEST(Colormap, SequentialMapsGrowLighterAllTheWay) {
  for (const auto map : {Colormap::gray, Colormap::ember, Colormap::sd})
    for (int i = 1; i <= 100; ++i)
      EXPECT_GT(luminance(colour(map, i / 100.0)), luminance(colour(map, (i - 1) / 100.0)))
          << static_cast<int>(map) << " at " << i;
}

TEST(Colormap, DivergingMapIsNeutralInTheMiddleAndFallsToBothSides) {
  const auto middle = colour(Colormap::diverging, 0.5);
  EXPECT_LE(std::abs(middle[0] - middle[2]), 2);
  for (int i = 1; i <= 50; ++i)
    for (const int side : {-1, 1})
      EXPECT_LT(luminance(colour(Colormap::diverging, 0.5 + side * i / 100.0)),
                luminance(colour(Colormap::diverging, 0.5 + side * (i - 1) / 100.0)));
  EXPECT_NEAR(luminance(colour(Colormap::diverging, 0)), luminance(colour(Colormap::diverging, 1)), 0.03);
}

TEST(Colormap, ClampsAndMarksNaN) {
  const auto image = at::tensor({-INFINITY, 0.0, 1.0, 5.0, NAN}, at::kDouble).reshape({1, 5});
  const auto bytes = colorize(image, {0, 1}, Colormap::gray);
  EXPECT_EQ(bytes.scalar_type(), at::kByte);
  EXPECT_TRUE(bytes[1].equal(at::tensor({0, 0, 255, 255, 0}, at::kByte).reshape({1, 5})));
  EXPECT_TRUE(bytes[0].equal(at::tensor({0, 0, 255, 255, 255}, at::kByte).reshape({1, 5})));
}

TEST(Colormap, ShowsAConstantImage) {
  const auto bytes = colorize(at::full({2, 2}, 3.0), {3, 3}, Colormap::gray);
  EXPECT_EQ(bytes.min().item<int>(), 128);
  EXPECT_EQ(bytes.max().item<int>(), 128);
}

TEST(Colormap, ThreeChannelsAreColourAndOthersStandSideBySide) {
  const auto image = at::rand({3, 4, 5});
  EXPECT_EQ(picture_bytes(image, {}, Colormap::gray).sizes(), (at::IntArrayRef{3, 4, 5}));
  EXPECT_EQ(picture_bytes(image, {}, Colormap::sd).sizes(), (at::IntArrayRef{3, 4, 15}));
  EXPECT_EQ(picture_bytes(image.slice(0, 0, 2), {}, Colormap::gray).sizes(), (at::IntArrayRef{3, 4, 10}));
  EXPECT_THROW(picture_bytes(at::rand({5}), {}, Colormap::gray), InputError);
}

TEST(Colormap, RangesIgnoreWhatIsNotFiniteAndTheOutliers) {
  auto image = at::arange(1000, at::kDouble);
  image[0] = NAN;
  image[1] = -1e9;
  const auto range = range_of({image, at::full({1000}, 5.0, at::kDouble)});
  EXPECT_GE(range.low, 2);
  EXPECT_LE(range.high, 999);
  EXPECT_EQ(range_of({at::full({4}, NAN)}).high, 1);
  EXPECT_EQ(symmetric_range(at::tensor({-3.0, 2.0, INFINITY}, at::kDouble)).high, 3);
}

}  // namespace
}  // namespace penumbra::report
