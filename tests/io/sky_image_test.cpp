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

/// The bytes with this card in the first header, in place of one of the same keyword or before END.
std::string with_card(std::string bytes, std::string keyword, const std::string& value) {
  keyword.resize(8, ' ');
  auto card = keyword + "= " + value, end = std::string("END");
  card.resize(80, ' ');
  end.resize(80, ' ');
  if (const auto at = bytes.find(keyword + "= "); at != bytes.npos) return bytes.replace(at, 80, card);
  return bytes.replace(bytes.find(end), 160, card + end);
}

using Cards = std::vector<std::pair<std::string, std::string>>;

std::string with_cards(std::string bytes, const Cards& cards) {
  for (const auto& [keyword, value] : cards) bytes = with_card(bytes, keyword, value);
  return bytes;
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
  EXPECT_NEAR(read.right_ascension.value(), written.right_ascension.value(), 1e-14);
  EXPECT_EQ(read.declination, written.declination);
  EXPECT_EQ(read.frequency, written.frequency);
  EXPECT_EQ(read.mjd, written.mjd);
  EXPECT_EQ(read.unit, written.unit);
  EXPECT_TRUE(read_image(path).equal(written.pixels.unsqueeze(0)));
}

/// Zeros would look like a direction and a day.
TEST_F(FitsImage, WhatIsNotKnownIsNotWritten) {
  auto image = example();
  image.source.clear();
  image.right_ascension = image.declination = std::nullopt;
  image.mjd = 0;
  const auto bytes = format_fits_image(image, "x");
  for (const auto* keyword : {"OBSRA", "OBSDEC", "CRVAL", "MJD"}) EXPECT_FALSE(contains(bytes, keyword)) << keyword;
  const auto read = parsed_sky(bytes);
  EXPECT_TRUE(read.pixels.equal(image.pixels));
  EXPECT_FALSE(read.right_ascension || read.declination);
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

TEST_F(FitsImage, StepsHaveTheUnitsOfTheHeader) {
  const auto image = example();
  const auto bytes = format_fits_image(image, "x");
  const auto expect_pixel = [&](const std::string& unit, const std::string& two_microarcseconds) {
    const auto read = parsed_sky(with_cards(bytes, {{"CDELT1", "-" + two_microarcseconds},
                                                    {"CDELT2", two_microarcseconds},
                                                    {"CUNIT1", "'" + unit + "'"},
                                                    {"CUNIT2", "'" + unit + "'"}}));
    EXPECT_NEAR(read.pixel_radians, image.pixel_radians, 1e-12 * image.pixel_radians) << unit;
    EXPECT_TRUE(read.pixels.equal(image.pixels)) << unit;
  };
  for (const auto* unit : {"", "deg     ", "DEG", "degree", "degrees"}) expect_pixel(unit, "5.5555555555555556E-10");
  expect_pixel("arcmin", "3.3333333333333333E-08");
  expect_pixel("arcsec", "2E-06");
  expect_pixel("mas", "2E-03");
  expect_pixel("uas", "2.0");
  expect_pixel("rad", "9.6962736221907E-12");
  const Cards one_hour{{"CUNIT1", "'arcsec'"}, {"CUNIT2", "'arcsec'"}, {"CDELT1", "-1.0"},
                       {"CDELT2", "1.0"},      {"CRVAL1", "54000.0"},  {"CRVAL2", "7200.0"}};
  auto reference = with_cards(bytes, one_hour);
  for (const std::string keyword : {"OBSRA ", "OBSDEC"})
    reference.replace(reference.find(keyword + "  ="), 6, "XXXXXX");
  EXPECT_NEAR(parsed_sky(reference).right_ascension.value(), 1, 1e-12);
  EXPECT_NEAR(parsed_sky(reference).declination.value(), 2, 1e-12);
}

TEST_F(FitsImage, MatricesWithoutRotationAreSteps) {
  const auto image = example();
  const auto bytes = format_fits_image(image, "x");
  const auto twice = parsed_sky(with_cards(bytes, {{"CD1_1", "-1.1111111111111111E-09"},
                                                   {"CD1_2", "1E-25"},
                                                   {"CD2_1", "0.0"},
                                                   {"CD2_2", "1.1111111111111111E-09"}}));
  EXPECT_NEAR(twice.pixel_radians, 2 * image.pixel_radians, 1e-12 * image.pixel_radians);
  EXPECT_TRUE(twice.pixels.equal(image.pixels));
  const auto turned = parsed_sky(with_cards(bytes, {{"PC1_1", "-1.0"}, {"PC2_2", "-1.0"}, {"CROTA2", "0.0"}}));
  EXPECT_NEAR(turned.pixel_radians, image.pixel_radians, 1e-12 * image.pixel_radians);
  EXPECT_TRUE(turned.pixels.equal(image.pixels.flip({0, 1})));
}

TEST_F(FitsImage, WhatIsNotStokesIWithTheNorthUpIsRefused) {
  const auto good = format_fits_image(example(), "x");
  const auto expect_refused = [&](const Cards& cards, const std::string& expected) {
    const auto message = message_of([&] { parsed_sky(with_cards(good, cards)); });
    EXPECT_TRUE(contains(message, "x.fits: " + expected)) << message << "\nlacks: " << expected;
  };
  expect_refused({{"CUNIT1", "'pixel'"}}, "CUNIT1: expected deg, arcmin, arcsec, mas, uas or rad, found pixel");
  expect_refused({{"CUNIT2", "'m'"}}, "CUNIT2: expected deg");
  expect_refused({{"CUNIT1", "'arcsec'"}}, "CDELT2: expected square pixels");
  expect_refused({{"CROTA2", "30.0"}}, "CROTA2: expected 0 degrees, an image that is not rotated, found 30");
  expect_refused({{"PC1_2", "0.5"}}, "PC1_2: expected 0, an image that is not rotated, found 0.5");
  expect_refused({{"PC2_1", "-0.5"}}, "PC2_1: expected 0");
  expect_refused({{"CD1_1", "-1E-9"}, {"CD2_2", "1E-9"}, {"CD2_1", "1E-9"}}, "CD2_1: expected 0");
  expect_refused({{"CD1_2", "1E-9"}, {"CD2_1", "1E-9"}}, "CD1_2: expected 0");
  expect_refused({{"CTYPE1", "'GLON-CAR'"}}, "CTYPE1: expected RA, alone or with a projection, found GLON-CAR");
  expect_refused({{"CTYPE1", "'DEC--SIN'"}, {"CTYPE2", "'RA---SIN'"}}, "CTYPE1: expected RA");
  expect_refused({{"CTYPE2", "'DECIMAL'"}}, "CTYPE2: expected DEC");
  expect_refused({{"STOKES", "'Q'"}}, "STOKES: expected I, found Q");
  expect_refused({{"CTYPE3", "'STOKES'"}, {"CRVAL3", "2.0"}}, "CRVAL3: expected 1, Stokes I, found 2");
  expect_refused({{"CTYPE4", "'STOKES'"}, {"CRVAL4", "1.0"}, {"CRPIX4", "0.0"}},
                 "CRVAL4: expected 1, Stokes I, found 2");
}

TEST_F(FitsImage, OtherSpellingsOfTheSameAreRead) {
  const auto good = format_fits_image(example(), "x");
  for (const auto& cards : {Cards{{"CTYPE1", "'RA'"}, {"CTYPE2", "'DEC'"}},
                            {{"CTYPE1", "'        '"}, {"CTYPE2", "''"}, {"STOKES", "''"}},
                            {{"CTYPE1", "'RA---TAN'"}, {"CTYPE2", "'DEC---SIN'"}},
                            {{"CTYPE3", "'STOKES'"}, {"CRVAL3", "1.0"}, {"STOKES", "'i'"}}})
    EXPECT_TRUE(parsed_sky(with_cards(good, cards)).pixels.equal(example().pixels)) << cards[0].second;
  for (const auto* unit : {"JY/PIXEL", "Jy/pixel", "Jy/Pixel", "Jy/pix"})
    EXPECT_TRUE(is_jansky_per_pixel(unit)) << unit;
  for (const auto* unit : {"", "JY/BEAM", "K", "mJy/pixel"}) EXPECT_FALSE(is_jansky_per_pixel(unit)) << unit;
}

TEST_F(FitsImage, SeveralImagesAreReadWhereTheyAreAskedFor) {
  auto several = example();
  several.pixels = at::arange(24, at::kDouble).reshape({2, 3, 4});
  const auto bytes = format_fits_image(several, "x");
  EXPECT_TRUE(parse_fits_images(bytes, "x.fits").pixels.equal(several.pixels));
  EXPECT_TRUE(
      parse_fits_images(format_fits_image(example(), "x"), "x.fits").pixels.equal(example().pixels.unsqueeze(0)));
  EXPECT_TRUE(contains(message_of([&] { parsed_sky(bytes); }), "x.fits: NAXIS3: expected 1, found 2"));
  const auto polarised = with_cards(bytes, {{"CTYPE3", "'STOKES'"}, {"CRVAL3", "1.0"}});
  EXPECT_TRUE(contains(message_of([&] { parse_fits_images(polarised, "x.fits"); }),
                       "x.fits: NAXIS3: expected 1, Stokes I alone, found 2"));
}

TEST_F(FitsImage, DataThatTheHeaderDoesNotCountAreNoticed) {
  auto image = example();
  image.pixels = at::ones({30, 30}, at::kDouble);
  const auto bytes = format_fits_image(image, "x");
  EXPECT_TRUE(contains(message_of([&] { parsed_sky(with_card(bytes, "NAXIS2", "10")); }),
                       "x.fits: part 1: expected another part (XTENSION) or the end of the file after the data"));
  EXPECT_TRUE(parsed_sky(bytes + std::string(2880, '\0') + "  ").pixels.equal(image.pixels));
}

TEST_F(FitsImage, SaysWhatIsWrong) {
  const auto good = format_fits_image(example(), "x");
  const auto refusal = [](const std::string& bytes) { return message_of([&] { parsed_sky(bytes); }); };
  EXPECT_TRUE(contains(refusal(good.substr(0, 2900)), "x.fits: part 1: expected 96 bytes of data"));
  EXPECT_TRUE(contains(refusal(with_card(good, "NAXIS", "1")), "x.fits: NAXIS: expected an image"));
  EXPECT_TRUE(contains(refusal(with_card(good, "CDELT2", "1.0")), "x.fits: CDELT2: expected square pixels"));
  EXPECT_TRUE(contains(refusal(with_card(good, "CDELT1", "0.0")), "x.fits: CDELT1: expected the side of a pixel"));
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
  EXPECT_NEAR(image.right_ascension.value(), 17.761122472, 1e-9);
  EXPECT_NEAR(image.declination.value(), -28.992189444, 1e-9);
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
