#include "io/sky_image.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "io/file.h"
#include "io/fits_reader.h"
#include "io/image.h"
#include "support/damaged_file.h"
#include "support/message.h"
#include "support/paths.h"

namespace penumbra::io {
namespace {

namespace fs = std::filesystem;
using test::contains;
using test::message_of;

class FitsImage : public testing::Test {
 protected:
  void SetUp() override {
    if (!reads_fits()) GTEST_SKIP() << "built without CFITSIO";
  }
};

/// Wider than high, every pixel another number.
SkyImage example() {
  SkyImage image;
  image.pixels = at::arange(12, at::kDouble).reshape({3, 4}) / 7;
  image.pixel_radians = 2 * radians_per_microarcsecond;
  image.source = "M87";
  image.right_ascension = 12.513728717168174;
  image.declination = 12.39112323919932;
  image.frequency = 227070703125;
  image.mjd = 57849.25;
  image.unit = "JY/PIXEL";
  return image;
}

std::string with_card(std::string bytes, std::string keyword, const std::string& value) {
  keyword.resize(8, ' ');
  auto card = keyword + "= " + value;
  card.resize(80, ' ');
  return bytes.replace(bytes.find(keyword + "= "), 80, card);
}

SkyImage parsed_sky(const std::string& bytes) { return parse_sky_image(bytes, "x.fits"); }

TEST_F(FitsImage, RoundTripIsExact) {
  const auto written = example();
  const auto path = test::scratch() / "x.fits";
  write_fits_image(path, written);
  const auto read = read_sky_image(path);
  EXPECT_TRUE(read.pixels.equal(written.pixels));
  EXPECT_NEAR(read.pixel_radians, written.pixel_radians, 1e-15 * written.pixel_radians);
  EXPECT_EQ(read.source, written.source);
  EXPECT_NEAR(read.right_ascension, written.right_ascension, 1e-14);
  EXPECT_EQ(read.declination, written.declination);
  EXPECT_EQ(read.frequency, written.frequency);
  EXPECT_EQ(read.mjd, written.mjd);
  EXPECT_EQ(read.unit, written.unit);
  EXPECT_TRUE(read_image(path).equal(written.pixels.unsqueeze(0)));
}

TEST_F(FitsImage, FirstRowOfTheFileIsTheSouthAndDegreesFallToTheRight) {
  const auto image = example();
  const auto bytes = format_fits_image(image, "x");
  // The first number of the data, big-endian, is the South-East corner.
  double first = 0;
  for (int i = 0; i < 8; ++i) reinterpret_cast<char*>(&first)[7 - i] = bytes[2880 + i];
  EXPECT_EQ(first, image.pixels[2][0].item<double>());
  EXPECT_TRUE(parsed_sky(with_card(bytes, "CDELT1", "5.5555555555555556E-10")).pixels.equal(image.pixels.flip(1)));
  EXPECT_TRUE(parsed_sky(with_card(bytes, "CDELT2", "-5.5555555555555556E-10")).pixels.equal(image.pixels.flip(0)));
}

TEST_F(FitsImage, SaysWhatIsWrong) {
  const auto good = format_fits_image(example(), "x");
  const auto refusal = [](const std::string& bytes) { return message_of([&] { parsed_sky(bytes); }); };
  EXPECT_TRUE(contains(refusal(good.substr(0, 2900)), "x.fits: part 1: expected 96 bytes of data"));
  EXPECT_TRUE(contains(refusal(with_card(good, "NAXIS", "1")), "x.fits: NAXIS: expected an image"));
  EXPECT_TRUE(contains(refusal(with_card(good, "CDELT2", "1.0")), "x.fits: CDELT2: expected square pixels"));
  EXPECT_TRUE(contains(refusal(with_card(good, "CDELT1", "'wide'")), "x.fits: CDELT1: expected a number, found wide"));
  EXPECT_TRUE(contains(refusal("GIF89a"), "x.fits: expected an image of the sky"));
  auto bad = example();
  bad.pixels[1][2] = NAN;
  EXPECT_TRUE(contains(refusal(format_fits_image(bad, "x")), "1 that are not, the first in row 1, column 2"));
}

TEST_F(FitsImage, DamagedFilesAreReadOrRefused) {
  const auto path = test::scratch() / "x.fits";
  write_fits_image(path, example());
  test::expect_read_or_refused(path, [&](unsigned) { read_sky_image(path); });
}

TEST_F(FitsImage, EveryModelIsRead) {
  const auto folder = test::shared("data/blackhole");
  if (!folder) GTEST_SKIP() << "no ../shared/data/blackhole";
  int files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(*folder)) {
    const auto extension = entry.path().extension();
    if (extension != ".fits" && (extension != ".txt" || !contains(entry.path().string(), "eht-imaging_models")))
      continue;
    const auto image = read_sky_image(entry.path());
    const double flux = image.pixels.sum().item<double>();
    const double fov = image.pixel_radians * static_cast<double>(image.pixels.size(1)) / radians_per_microarcsecond;
    EXPECT_GT(flux, 0.1) << entry.path();
    EXPECT_LT(flux, 200) << entry.path();  // some are in arbitrary units
    EXPECT_GT(fov, 100) << entry.path();
    EXPECT_LT(fov, 300) << entry.path();
    ++files;
  }
  EXPECT_EQ(files, 18);
  // Section 9 of the specification: 128 x 128, 158 uas, 1.995 Jy, brightest in the North-West.
  const auto truth = read_sky_image(*folder / "pnpdm/gt.fits");
  EXPECT_EQ(truth.pixels.sizes(), at::IntArrayRef({128, 128}));
  EXPECT_NEAR(truth.pixels.sum().item<double>(), 1.995, 0.0005);
  const auto half = [&](int64_t row, int64_t column) {
    return truth.pixels.narrow(0, row, 64).narrow(1, column, 64).sum().item<double>();
  };
  for (const auto& other : {half(0, 0), half(64, 0), half(64, 64)}) EXPECT_GT(half(0, 64), other);
}

const std::string sky_text =
    "# SRC: SgrA \n# RA: 17 h 45 m 40.0409 s\n# DEC: -28 deg 59 m 31.8820 s\n# MJD: 48277.0000 \n# RF: 230.0000 GHz \n"
    "# FOVX: 3 pix 0.000012 as \n# FOVY: 2 pix 0.000008 as \n# ------\n# x (as) y (as) I (Jy/pixel)\n"
    "0.0000040000 0.0000020000 1 9 9\n0.0000000000 0.0000020000 2 9 9\n-0.0000040000 0.0000020000 3\n"
    "0.0000040000 -0.0000020000 4\n0.0000000000 -0.0000020000 5\n-0.0000040000 -0.0000020000 6\n";

TEST(SkyText, IsReadFromTheNorthEast) {
  const auto image = parsed_sky(sky_text);
  EXPECT_TRUE(image.pixels.equal(at::arange(1, 7, at::kDouble).reshape({2, 3})));
  EXPECT_NEAR(image.pixel_radians, 4 * radians_per_microarcsecond, 1e-22);
  EXPECT_NEAR(image.right_ascension, 17.761122472, 1e-9);
  EXPECT_NEAR(image.declination, -28.992189444, 1e-9);
  EXPECT_EQ(image.frequency, 230e9);
  EXPECT_EQ(image.source, "SgrA");
}

TEST(SkyText, SaysWhatIsWrongAndWhere) {
  const auto refusal = [](const std::string& from, const std::string& to) {
    auto text = sky_text;
    text.replace(text.find(from), from.size(), to);
    return message_of([&] { parsed_sky(text); });
  };
  EXPECT_TRUE(contains(refusal("2 9 9", "two"), "x.fits:11: I: expected a number, found two"));
  EXPECT_TRUE(contains(refusal("3 pix", "4 pix"), "x.fits: expected 2 x 4 pixels, as FOVX and FOVY say, found 6"));
  EXPECT_TRUE(contains(refusal("3 pix", "1 pix"), "x.fits:12: expected 2 x 1 pixels"));
  EXPECT_TRUE(contains(refusal("3 pix", "-1 pix"), "x.fits:6: FOVX: expected a number of pixels, found -1"));
  EXPECT_TRUE(contains(refusal("17 h", "x h"), "x.fits:2: RA: expected a number"));
}

}  // namespace
}  // namespace penumbra::io
