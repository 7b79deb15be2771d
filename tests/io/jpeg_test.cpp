// JPEG files whose pixels the standard's formulas give; a damaged file is an InputError, never gray pixels.
#include "io/jpeg.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "io/image.h"
#include "support/jpeg.h"
#include "support/message.h"

namespace penumbra::io {
namespace {

using test::contains;
using test::make_jpeg;
using test::message_of;

class Jpeg : public testing::Test {
 protected:
  void SetUp() override {
    if (!reads_jpeg()) GTEST_SKIP() << "built without libjpeg";
  }
};

std::string jpeg_error(const std::string& bytes) {
  return message_of([&] { decode_jpeg(bytes, "x.jpg"); });
}

TEST_F(Jpeg, ReadsFlatGrayBlocksExactly) {
  const auto image = parse_image(make_jpeg(8, 16, {{{-28}, {72}}}), "x.jpg", 0, 255);
  ASSERT_EQ(image.sizes(), at::IntArrayRef({1, 8, 16}));
  EXPECT_TRUE(at::allclose(image.slice(2, 0, 8), at::full({1, 8, 8}, 100.0, at::kDouble)));
  EXPECT_TRUE(at::allclose(image.slice(2, 8), at::full({1, 8, 8}, 200.0, at::kDouble)));
}

TEST_F(Jpeg, ReadsACosine) {
  const auto image = parse_image(make_jpeg(8, 8, {{{10, 40}}}), "x.jpg", 0, 255);
  const auto column = at::arange(8, at::kDouble);
  const auto row = 138 + std::sqrt(2.0) * 40 * at::cos(M_PI / 16 * (2 * column + 1));
  // Rounding to a byte, and one for the decoder's whole-number arithmetic.
  EXPECT_LE((image[0] - row).abs().max().item<double>(), 1.5);
}

TEST_F(Jpeg, ReadsColour) {
  // Y = 100, Cb - 128 = 20, Cr - 128 = -30, by JFIF's formula.
  const auto image = parse_image(make_jpeg(8, 8, {{{-28}}, {{20}}, {{-30}}}), "x.jpg", 0, 255);
  ASSERT_EQ(image.sizes(), at::IntArrayRef({3, 8, 8}));
  const double expected[] = {100 - 1.402 * 30, 100 - 0.344136 * 20 + 0.714136 * 30, 100 + 1.772 * 20};
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(image[i][3][3].item<double>(), expected[i], 1) << i;
}

TEST_F(Jpeg, CutsTheLastBlocks) {
  EXPECT_EQ(parse_image(make_jpeg(3, 11, {{{0}, {0}}}), "x.jpg").sizes(), at::IntArrayRef({1, 3, 11}));
}

TEST_F(Jpeg, MapsPixelsToTheRange) {
  EXPECT_EQ(parse_image(make_jpeg(8, 8, {{{127}}}), "x.jpg").max().item<double>(), 1);
  EXPECT_EQ(parse_image(make_jpeg(8, 8, {{{-128}}}), "x.jpg").min().item<double>(), -1);
}

TEST_F(Jpeg, RefusesATruncatedFile) {
  const auto whole = make_jpeg(16, 16, {{{-28}, {72}, {13, 40}, {-100, -9}}});
  ASSERT_EQ(jpeg_error(whole), "");
  for (size_t size = 0; size < whole.size(); ++size) EXPECT_NE(jpeg_error(whole.substr(0, size)), "") << size;
  EXPECT_EQ(jpeg_error(whole.substr(0, whole.size() - 4)), "x.jpg: expected a JPEG image: the file is truncated");
}

TEST_F(Jpeg, RefusesDamagedData) {
  auto file = make_jpeg(8, 64, {{{1}, {2}, {3}, {4}, {5}, {6}, {7}, {8}}});
  // A restart marker where the codes of most blocks should be: libjpeg itself only warns.
  file.insert(file.size() - 6, "\xff\xd3");
  EXPECT_TRUE(contains(jpeg_error(file), "x.jpg: expected a JPEG image: Corrupt JPEG data")) << jpeg_error(file);
}

TEST_F(Jpeg, RefusesCmykAndOddComponents) {
  EXPECT_EQ(jpeg_error(make_jpeg(8, 8, {{{0}}, {{0}}, {{0}}, {{0}}})),
            "x.jpg: expected a JPEG image: CMYK colours; convert it to RGB");
  EXPECT_TRUE(contains(jpeg_error(make_jpeg(8, 8, {{{0}}, {{0}}})), "neither gray nor colour"));
}

TEST_F(Jpeg, RefusesAnImageThatIsTooLarge) {
  EXPECT_TRUE(contains(jpeg_error(make_jpeg(8, 40000, {{{0}}})), "more than 32768 pixels a side"));
  EXPECT_TRUE(contains(jpeg_error(make_jpeg(32768, 32768, {{{0}}})), "more than 2^28 pixels"));
  EXPECT_TRUE(contains(jpeg_error(make_jpeg(16384, 16384, {{{0}}})), "the file is truncated"));
}

TEST(JpegWithout, SaysWhatIsMissing) {
  if (reads_jpeg()) GTEST_SKIP() << "built with libjpeg";
  EXPECT_TRUE(
      contains(jpeg_error(make_jpeg(8, 8, {{{0}}})), "x.jpg: a JPEG image, but this program was built without"));
}

}  // namespace
}  // namespace penumbra::io
