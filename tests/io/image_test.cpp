// Images come in with the range that was asked for, whatever PNG's flavour, and a broken file is an InputError.
#include "io/image.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "io/file.h"
#include "io/npy.h"
#include "support/message.h"
#include "support/paths.h"

namespace penumbra::io {
namespace {

using test::contains;
using test::message_of;

/// The bytes of a PNG chunk with its checksum.
std::string chunk(const std::string& type, const std::string& data) {
  const auto big_endian = [](uint32_t n) {
    return std::string{static_cast<char>(n >> 24), static_cast<char>(n >> 16), static_cast<char>(n >> 8),
                       static_cast<char>(n)};
  };
  uint32_t crc = 0xffffffff;
  for (const char c : type + data) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc & 1 ? crc >> 1 ^ 0xedb88320 : crc >> 1;
  }
  return big_endian(static_cast<uint32_t>(data.size())) + type + data + big_endian(~crc);
}

/// Uncompressed zlib data.
std::string stored(const std::string& raw) {
  uint32_t a = 1, b = 0;
  for (const char c : raw) {
    a = (a + static_cast<unsigned char>(c)) % 65521;
    b = (b + a) % 65521;
  }
  const auto n = static_cast<unsigned>(raw.size());
  std::string out{0x78,
                  0x01,
                  0x01,
                  static_cast<char>(n),
                  static_cast<char>(n >> 8),
                  static_cast<char>(~n),
                  static_cast<char>(~n >> 8)};
  return out + raw +
         std::string{static_cast<char>(b >> 8), static_cast<char>(b), static_cast<char>(a >> 8), static_cast<char>(a)};
}

struct Flavour {
  uint32_t width, height;
  char depth, colour;
};

std::string png(Flavour f, const std::string& rows, const std::string& before_data = {}) {
  std::string head;
  for (const auto n : {f.width, f.height})
    for (int shift : {24, 16, 8, 0}) head += static_cast<char>(n >> shift);
  head += {f.depth, f.colour, 0, 0, 0};
  return "\x89PNG\r\n\x1a\n" + chunk("IHDR", head) + before_data + chunk("IDAT", stored(rows)) + chunk("IEND", "");
}

Tensor parsed_png(const std::string& bytes) { return parse_image(bytes, "x.png", 0, 1); }

std::vector<double> values_of(const std::string& bytes) {
  const auto image = parsed_png(bytes);
  return {image.data_ptr<double>(), image.data_ptr<double>() + image.numel()};
}

std::string png_error(const std::string& bytes) {
  return message_of([&] { parsed_png(bytes); });
}

TEST(Image, ReadsBackThePngThatItWrote) {
  const auto path = test::scratch() / "x.png";
  for (const auto& shape : {std::vector<int64_t>{1, 5, 7}, std::vector<int64_t>{3, 5, 7}}) {
    const auto bytes = at::arange(element_count(shape), at::kLong).mul(37).remainder(256).to(at::kByte).reshape(shape);
    write_png(path, bytes);
    EXPECT_TRUE(at::equal(read_image(path, 0, 255).round(), bytes.to(at::kDouble)));
  }
}

TEST(Image, WritesGrayFromTwoDimensions) {
  EXPECT_EQ(parsed_png(format_png(at::zeros({4, 6}, at::kByte))).sizes(), at::IntArrayRef({1, 4, 6}));
}

TEST(Image, MapsPixelsToTheRange) {
  const auto path = test::scratch() / "x.png";
  write_png(path, at::tensor({0, 255}).to(at::kByte).reshape({1, 2}));
  const auto image = read_image(path);
  EXPECT_EQ(image[0][0][0].item<double>(), -1);
  EXPECT_EQ(image[0][0][1].item<double>(), 1);
}

TEST(Image, ReadsGrayOfEveryDepth) {
  EXPECT_EQ(values_of(png({2, 1, 1, 0}, {0, '\x40'})), (std::vector<double>{0, 1}));
  EXPECT_EQ(values_of(png({2, 1, 2, 0}, {0, '\x70'})), (std::vector<double>{1 / 3., 1}));
  EXPECT_EQ(values_of(png({2, 1, 4, 0}, {0, '\x3f'})), (std::vector<double>{0.2, 1}));
  EXPECT_EQ(values_of(png({2, 1, 8, 0}, {0, '\x33', '\xff'})), (std::vector<double>{0.2, 1}));
  EXPECT_EQ(values_of(png({2, 1, 16, 0}, {0, 0, 1, '\xff', '\xff'})), (std::vector<double>{1 / 65535., 1}));
}

TEST(Image, ReadsColourAndDropsAlpha) {
  EXPECT_EQ(values_of(png({1, 1, 8, 2}, {0, 0, '\x33', '\xff'})), (std::vector<double>{0, 0.2, 1}));
  EXPECT_EQ(values_of(png({1, 1, 8, 6}, {0, 0, '\x33', '\xff', 7})), (std::vector<double>{0, 0.2, 1}));
  EXPECT_EQ(values_of(png({1, 1, 8, 4}, {0, '\x33', 7})), (std::vector<double>{0.2}));
  EXPECT_EQ(values_of(png({1, 1, 16, 6}, {0, 0, 0, '\x33', '\x33', '\xff', '\xff', 1, 2})),
            (std::vector<double>{0, 0.2, 1}));
}

TEST(Image, LooksThePaletteUp) {
  const auto palette = chunk("PLTE", std::string{0, 0, 0, 0, '\x33', '\xff'});
  EXPECT_EQ(values_of(png({1, 1, 1, 3}, {0, '\x80'}, palette)), (std::vector<double>{0, 0.2, 1}));
  EXPECT_EQ(values_of(png({1, 1, 1, 3}, {0, '\x80'}, palette + chunk("tRNS", std::string{0, 0}))),
            (std::vector<double>{0, 0.2, 1}));
}

TEST(Image, RefusesACorruptPng) {
  const auto whole = png({2, 2, 8, 0}, {0, 1, 2, 0, 3, 4});
  ASSERT_EQ(png_error(whole), "");
  for (size_t size = 0; size < whole.size(); ++size) EXPECT_NE(png_error(whole.substr(0, size)), "") << size;
  auto damaged = whole;
  damaged[whole.find("IDAT") + 8] ^= 1;
  EXPECT_TRUE(contains(png_error(damaged), "x.png: expected a PNG image: ")) << png_error(damaged);
  EXPECT_NE(png_error(png({2, 2, 8, 0}, {0, 1, 2})), "");
}

TEST(Image, RefusesAChunkLongerThanTheFile) {
  auto bytes = png({1, 1, 8, 0}, {0, 1}, chunk("tEXt", "key"));
  bytes[bytes.find("tEXt") - 4] = 0x79;
  EXPECT_TRUE(contains(png_error(bytes), "x.png: expected a PNG image: the file is truncated in its chunk tEXt"))
      << png_error(bytes);
}

TEST(Image, RefusesAPngThatIsTooLarge) {
  EXPECT_NE(png_error(png({32769, 1, 8, 0}, {0})), "");
  EXPECT_TRUE(contains(png_error(png({32768, 32768, 8, 0}, {0})), "more than 2^28 pixels"));
  EXPECT_TRUE(contains(png_error(png({16384, 16384, 8, 0}, {0})), "the file is truncated"));
}

TEST(Image, ReadsNpyOfEachShapeAndKeepsItsValues) {
  const auto path = test::scratch() / "x.npy";
  for (const auto& shape :
       {std::vector<int64_t>{2, 3}, std::vector<int64_t>{1, 2, 3}, std::vector<int64_t>{1, 1, 2, 3}}) {
    write_npy(path, at::arange(6, at::kFloat).reshape(shape));
    EXPECT_TRUE(at::equal(read_image(path), at::arange(6, at::kDouble).reshape({1, 2, 3})));
  }
}

TEST(Image, RefusesNpyThatIsNoImage) {
  const auto error = [](const Tensor& array) { return message_of([&] { parse_image(format_npy(array), "x.npy"); }); };
  EXPECT_EQ(error(at::zeros({2, 1, 3, 3})),
            "x.npy: expected an image [H, W], [C, H, W] or [1, C, H, W], found shape [2x1x3x3]");
  EXPECT_NE(error(at::zeros({3})), "");
  EXPECT_NE(error(at::zeros({0, 3})), "");
  EXPECT_NE(error(at::zeros({2, 2}, at::kComplexFloat)), "");
}

TEST(Image, RefusesAnotherFormat) {
  EXPECT_TRUE(contains(png_error("GIF89a"), "x.png: expected an image as NPY, PNG, JPEG, FITS"));
  EXPECT_NE(png_error(""), "");
}

TEST(Image, RefusesToWriteWhatAreNoBytes) {
  EXPECT_THROW(format_png(at::zeros({4, 4}, at::kDouble)), std::invalid_argument);
  EXPECT_THROW(format_png(at::zeros({2, 4, 4}, at::kByte)), std::invalid_argument);
}

}  // namespace
}  // namespace penumbra::io
