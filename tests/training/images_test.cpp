// A folder of images becomes tensors whose content and order depend on the files alone; a bad file is named.
#include "training/images.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "io/file.h"
#include "io/fits_reader.h"
#include "io/image.h"
#include "io/jpeg.h"
#include "io/npy.h"
#include "io/sky_image.h"
#include "support/jpeg.h"
#include "support/message.h"
#include "support/paths.h"
#include "training/files.h"
#include "training/fit.h"
#include "vlbi/example.h"
#include "vlbi/uvfits.h"

namespace penumbra::training {
namespace {

namespace fs = std::filesystem;
using test::contains;
using test::message_of;

Tensor flat_bytes(int64_t value, int64_t height = 6, int64_t width = 6, int64_t channels = 1) {
  return at::full({channels, height, width}, value, at::kByte);
}

ImageSetOptions small(const fs::path& folder) {
  return {.folder = folder, .height = 6, .width = 6, .low = 0, .high = 1};
}

std::string error_of(const ImageSetOptions& options) {
  return message_of([&] { read_images(options); });
}

/// Ten flat gray images, in nested folders.
fs::path gray_folder() {
  const auto folder = test::scratch();
  fs::create_directories(folder / "b" / "deep");
  for (int64_t i = 0; i < 10; ++i) {
    const auto* part = i % 3 == 0 ? "" : i % 3 == 1 ? "b" : "b/deep";
    io::write_png(folder / part / fmt::format("{}.png", i), flat_bytes(20 * i));
  }
  return folder;
}

TEST(Fit, KeepsTheBitsOfAnImageThatFits) {
  const auto x = at::rand({3, 5, 7});
  EXPECT_TRUE(at::equal(fit(x, {3, 5, 7}), x));
}

TEST(Fit, KeepsAConstant) {
  for (const auto& [height, width] : {std::pair(50, 31), std::pair(31, 50), std::pair(3, 4), std::pair(500, 3)}) {
    const auto y = fit(at::full({3, height, width}, 0.37F), {3, 8, 12});
    EXPECT_EQ(y.sizes(), at::IntArrayRef({3, 8, 12}));
    EXPECT_LE((y - 0.37).abs().max().item<double>(), 1e-6);
  }
}

TEST(Fit, KeepsALinearRamp) {
  // 64 columns onto 16: new column j is the average about old column 4 j + 1.5. Filters at the edge are one-sided.
  const auto ramp = (at::arange(64, at::kFloat) / 64).expand({1, 64, 64}).contiguous();
  const auto y = fit(ramp, {1, 16, 16});
  const auto expected = (4 * at::arange(16, at::kFloat) + 1.5) / 64;
  EXPECT_LE((y - expected).slice(2, 1, 15).abs().max().item<double>(), 1e-5);
}

TEST(Fit, AveragesWhatItShrinks) {
  // A fine checkerboard becomes gray; picking single pixels would keep black and white.
  const auto board = ((at::arange(64).unsqueeze(0) + at::arange(64).unsqueeze(1)) % 2).to(at::kFloat).unsqueeze(0);
  EXPECT_LE((fit(board, {1, 8, 8}) - 0.5).abs().max().item<double>(), 0.02);
}

TEST(Fit, CutsOutTheMiddle) {
  const auto wide = at::arange(10, at::kFloat).expand({1, 4, 10}).contiguous();
  EXPECT_TRUE(at::equal(fit(wide, {1, 4, 4}), wide.slice(2, 3, 7)));
  // A long strip is trimmed before it is scaled; its middle stays in the middle.
  const auto strip = (at::arange(4000, at::kFloat) / 4000).expand({1, 8, 4000}).contiguous();
  const auto y = fit(strip, {1, 4, 4});
  EXPECT_NEAR(y.mean().item<double>(), 1999.5 / 4000, 1e-4);
}

TEST(Fit, ConvertsColours) {
  const auto colour = at::stack({at::full({2, 2}, 1.0F), at::full({2, 2}, 0.5F), at::full({2, 2}, 0.25F)});
  EXPECT_NEAR(fit(colour, {1, 2, 2})[0][0][0].item<double>(), 0.299 + 0.587 / 2 + 0.114 / 4, 1e-6);
  EXPECT_TRUE(at::equal(fit(colour.slice(0, 1, 2), {3, 2, 2}), at::full({3, 2, 2}, 0.5F)));
}

TEST(Images, ReadsNestedFoldersInTheOrderOfNames) {
  const auto set = read_images(small(gray_folder()));
  EXPECT_EQ(set.train.scalar_type(), at::kByte);
  EXPECT_EQ(set.train.sizes(), at::IntArrayRef({10, 1, 6, 6}));
  EXPECT_TRUE(std::is_sorted(set.train_names.begin(), set.train_names.end()));
  EXPECT_EQ(set.train_names.at(4), "b/1.png");
  for (int64_t i = 0; i < 10; ++i) {
    const auto number = fs::path(set.train_names.at(i)).stem().string();
    EXPECT_TRUE((set.train[i] == 20 * std::stoi(number)).all().item<bool>()) << set.train_names.at(i);
  }
}

TEST(Images, GivesBatchesInTheRange) {
  auto options = small(gray_folder());
  options.low = -1;
  options.high = 3;
  const auto set = read_images(options);
  const auto batch = set.batch(at::tensor({4, 0, 4}, at::kLong));
  EXPECT_EQ(batch.scalar_type(), at::kFloat);
  EXPECT_EQ(batch.sizes(), at::IntArrayRef({3, 1, 6, 6}));
  EXPECT_NEAR(batch[0][0][0][0].item<double>(), -1 + 4 * 20 / 255.0, 1e-6);
  EXPECT_EQ(set.batch(at::tensor({1}, at::kLong), {at::kDouble, at::kCPU}).scalar_type(), at::kDouble);
}

TEST(Images, TellsFormatsByContent) {
  if (!io::reads_jpeg()) GTEST_SKIP() << "built without libjpeg";
  const auto folder = test::scratch();
  io::write_file(folder / "a.bin", test::make_jpeg(8, 8, {{{-28}}}));
  io::write_file(folder / "b.jpg", io::format_png(flat_bytes(50, 8, 8)));
  io::write_file(folder / "notes.txt", "not an image");
  io::write_file(folder / ".hidden.png", "not an image either");
  auto options = small(folder);
  options.channels = 3;
  const auto set = read_images(options);
  EXPECT_EQ(set.train_names, (std::vector<std::string>{"a.bin", "b.jpg"}));
  EXPECT_TRUE((set.train[0] == 100).all().item<bool>());
  EXPECT_TRUE((set.train[1] == 50).all().item<bool>());
  EXPECT_EQ(set.train.size(1), 3);
  EXPECT_EQ(set.skipped, (std::vector<std::string>{"notes.txt"}));
}

TEST(Images, KeepsTheValuesOfArrays) {
  const auto folder = test::scratch();
  const auto many = at::rand({5, 1, 6, 6}, at::kDouble), one = at::rand({6, 6});
  io::write_npy(folder / "many.npy", many);
  io::write_npy(folder / "one.npy", one);
  io::write_png(folder / "z.png", flat_bytes(51));
  const auto set = read_images(small(folder));
  EXPECT_EQ(set.train.scalar_type(), at::kFloat);
  EXPECT_EQ(set.train_names.at(3), "many.npy#3");
  EXPECT_TRUE(at::equal(set.train.slice(0, 0, 5), many.to(at::kFloat)));
  EXPECT_TRUE(at::equal(set.train[5][0], one));
  EXPECT_NEAR(set.train[6].mean().item<double>(), 0.2, 1e-6);
  EXPECT_TRUE(at::equal(set.batch(at::tensor({5}, at::kLong))[0][0], one));
}

TEST(Images, ScalesImagesOfTheSkyToTheirBrightestPixel) {
  if (!io::reads_fits()) GTEST_SKIP() << "built without CFITSIO";
  const auto folder = test::scratch();
  auto options = small(folder);
  options.low = -1;
  io::SkyImage sky;
  sky.pixels = 1e-5 * (at::rand({6, 6}, at::kDouble) - 0.1);
  sky.pixel_radians = 1e-11;
  io::write_fits_image(folder / "a.fits", sky);
  std::string text = "# SRC: M87\n# FOVX: 6 pix 0.00006 as\n# FOVY: 6 pix 0.00006 as\n";
  for (int i = 0; i < 36; ++i) text += fmt::format("{} 0 {}\n", 1e-5 * (5 - i % 6), i < 18 ? 0.25 : 0.5);
  io::write_file(folder / "b.txt", text);
  vlbi::write_uvfits(folder / "c.fits", vlbi::example_observation());
  const auto set = read_images(options);
  EXPECT_EQ(set.train_names, (std::vector<std::string>{"a.fits", "b.txt"}));
  EXPECT_EQ(set.skipped, (std::vector<std::string>{"c.fits"}));
  const auto expected = 2 * (sky.pixels / sky.pixels.max()).clamp_min(0) - 1;
  EXPECT_LT((set.train[0][0] - expected).abs().max().item<double>(), 1e-6);
  EXPECT_EQ(set.train[1][0][0][0].item<float>(), 0);
  EXPECT_EQ(set.train[1][0][5][5].item<float>(), 1);
  sky.pixels = at::zeros({6, 6}, at::kDouble);
  io::write_fits_image(folder / "a.fits", sky);
  EXPECT_TRUE(contains(error_of(options), "a.fits: expected pixels with light"));
}

TEST(Images, KeepsSixteenBitsAsFloats) {
  // Gray, 16 bits, 2 x 2 pixels.
  const std::string hex =
      "89504e470d0a1a0a0000000d4948445200000002000000021000000000074d8ebb0000001049444154789c636060fcff8f01440000"
      "0ffe03fd97cdf3bb0000000049454e44ae426082";
  std::string png;
  for (size_t i = 0; i < hex.size(); i += 2) png += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  const auto folder = test::scratch();
  io::write_file(folder / "a.png", png);
  io::write_png(folder / "b.png", flat_bytes(51, 2, 2));
  const auto set = read_images({.folder = folder, .height = 2, .width = 2, .low = -1, .high = 1});
  EXPECT_EQ(set.train.scalar_type(), at::kFloat);
  EXPECT_LE((set.train[0] - io::read_image(folder / "a.png", -1, 1)).abs().max().item<double>(), 1e-6);
  EXPECT_NEAR(set.train[1].mean().item<double>(), -0.6, 1e-6);
}

TEST(Images, HoldsOutTheValidationFolder) {
  auto options = small(gray_folder());
  options.validation_folder = gray_folder();
  options.validation_share = 0.5;  // of no effect then
  const auto set = read_images(options);
  EXPECT_EQ(set.train.size(0), 10);
  EXPECT_TRUE(at::equal(set.validation, set.train));
  EXPECT_TRUE(at::equal(set.validation_batch(at::tensor({2}, at::kLong)), set.batch(at::tensor({2}, at::kLong))));
}

/// Images 2, 5 and 8; and a link of another name to one of them.
TEST(Images, DoesNotTrainOnAValidationFolderWithin) {
  auto options = small(gray_folder());
  options.validation_folder = options.folder / "b" / "deep";
  fs::create_symlink(options.folder / "b" / "deep" / "5.png", options.folder / "link.png");
  const auto set = read_images(options);
  EXPECT_EQ(set.train_names,
            (std::vector<std::string>{"0.png", "3.png", "6.png", "9.png", "b/1.png", "b/4.png", "b/7.png"}));
  EXPECT_EQ(set.validation_names, (std::vector<std::string>{"2.png", "5.png", "8.png"}));
}

TEST(Images, HoldsOutAShareThatNewImagesDoNotChange) {
  const auto folder = gray_folder();
  auto options = small(folder);
  options.validation_share = 0.4;
  const auto before = read_images(options);
  EXPECT_EQ(before.train.size(0) + before.validation.size(0), 10);
  EXPECT_EQ(before.validation_names.size(), static_cast<size_t>(before.validation.size(0)));
  for (int i = 0; i < 20; ++i) io::write_png(folder / fmt::format("new{}.png", i), flat_bytes(3));
  const auto after = read_images(options);
  for (const auto& name : before.train_names)
    EXPECT_TRUE(std::count(after.train_names.begin(), after.train_names.end(), name)) << name;
  for (const auto& name : before.validation_names)
    EXPECT_TRUE(std::count(after.validation_names.begin(), after.validation_names.end(), name)) << name;
}

TEST(Images, HoldsOutTheShareThatWasAskedFor) {
  for (const auto* pattern : {"{}", "{:06}.png", "celeba/img_{}.jpg", "all.npy#{}"}) {
    int held_out = 0;
    for (int i = 0; i < 10000; ++i) held_out += is_held_out(fmt::format(fmt::runtime(pattern), i), 0.1);
    EXPECT_NEAR(held_out, 1000, 120) << pattern;  // 4 standard deviations
  }
  // Written down so that no release moves an image to the other side.
  std::string sides;
  for (int i = 0; i < 24; ++i) sides += is_held_out(fmt::format("{:04}.png", i), 0.3) ? 'v' : 't';
  EXPECT_EQ(sides, "ttttttttvvvttttttttvtvvt");
}

TEST(Images, FingerprintFollowsNamesAndContents) {
  const auto folder = gray_folder();
  const auto print = [&] { return read_images(small(folder)).fingerprint; };
  const auto first = print();
  EXPECT_EQ(first.size(), 16U);
  EXPECT_EQ(first, print());
  const auto threads = at::get_num_threads();
  at::set_num_threads(1);
  EXPECT_EQ(first, print());
  at::set_num_threads(threads);
  io::write_png(folder / "0.png", flat_bytes(1));
  EXPECT_NE(first, print());
  io::write_png(folder / "0.png", flat_bytes(0));
  EXPECT_EQ(first, print());
  fs::rename(folder / "0.png", folder / "00.png");
  EXPECT_NE(first, print());
}

TEST(Images, ReportsProgressAndEnlargedImages) {
  const auto folder = gray_folder();
  io::write_png(folder / "tiny.png", flat_bytes(9, 3, 20));
  int64_t calls = 0, last = 0;
  const auto set = read_images(small(folder), [&](int64_t done, int64_t total) {
    EXPECT_EQ(total, 11);
    EXPECT_EQ(done, ++calls);
    last = done;
  });
  EXPECT_EQ(last, 11);
  EXPECT_EQ(set.enlarged, 1);
}

TEST(Images, NamesTheFirstDamagedFile) {
  const auto folder = gray_folder();
  auto png = io::read_file(folder / "3.png");
  for (const auto* name : {"5.png", "6.png", "9.png"}) io::write_file(folder / name, png.substr(0, png.size() - 5));
  for (int i = 0; i < 5; ++i)
    EXPECT_TRUE(contains(error_of(small(folder)), "5.png: expected a PNG image: ")) << error_of(small(folder));
}

TEST(Images, RefusesAFileThatIsOnlyNamedLikeAnImage) {
  const auto folder = gray_folder();
  io::write_file(folder / "b" / "empty.JPG", "");
  EXPECT_TRUE(contains(error_of(small(folder)), "empty.JPG: named like an image, but it begins like none"));
}

TEST(Images, RefusesArraysThatAreNoImages) {
  const auto error_with = [](const Tensor& array) {
    const auto folder = gray_folder();
    io::write_npy(folder / "x.npy", array);
    const auto error = error_of(small(folder));
    EXPECT_TRUE(contains(error, "x.npy: ")) << error;
    return error;
  };
  EXPECT_TRUE(contains(error_with(at::zeros({4})), "[N, C, H, W]"));
  EXPECT_TRUE(contains(error_with(at::zeros({0, 6, 6})), "[N, C, H, W]"));
  EXPECT_TRUE(contains(error_with(at::zeros({1, 2, 1, 6, 6})), "[N, C, H, W]"));
  EXPECT_TRUE(contains(error_with(at::zeros({2, 6, 6})), "1 or 3 channels"));
  EXPECT_TRUE(contains(error_with(at::zeros({6, 6}, at::kComplexFloat)), "complex"));
  EXPECT_TRUE(contains(error_with(at::full({6, 6}, NAN)), "finite"));
  EXPECT_TRUE(contains(error_with(at::full({6, 6}, 255, at::kByte)), "values in the range [0, 1], found 255 to 255"));
}

TEST(Images, RefusesTooFew) {
  const auto folder = test::scratch();
  EXPECT_TRUE(contains(error_of(small(folder)), "found none"));
  io::write_file(folder / "readme.md", "text");
  EXPECT_TRUE(contains(error_of(small(folder)), "found none; 1 other files, readme.md the first"));
  io::write_png(folder / "0.png", flat_bytes(1));
  EXPECT_TRUE(contains(error_of(small(folder)), "expected at least 2 images to train on, found 1"));
  EXPECT_TRUE(contains(error_of(small(folder / "nowhere")), "expected a folder of images"));
  auto options = small(gray_folder());
  options.validation_share = 1e-9;
  EXPECT_TRUE(contains(error_of(options), "none of the 10 images fell into the share 1e-09"));
}

TEST(Images, SaysHowMuchMemoryIsMissing) {
  auto options = small(gray_folder());
  options.memory_limit = 359;
  EXPECT_TRUE(contains(error_of(options), "10 images of 1x6x6 as bytes need 3.35e-07 GiB of memory"))
      << error_of(options);
  options.memory_limit = 360;
  EXPECT_EQ(error_of(options), "");
}

TEST(Images, DoesNotFollowLinksToFolders) {
  const auto folder = gray_folder();
  fs::create_directory_symlink(folder, folder / "loop");
  const auto set = read_images(small(folder));
  EXPECT_EQ(set.train.size(0), 10);
  EXPECT_EQ(set.skipped, (std::vector<std::string>{"loop"}));
}

ImageSetOptions setting(const std::string& text, const fs::path& folder) {
  auto settings = Settings::from_text(text, "c.yaml", folder);
  const auto options = image_set_setting(settings.section("data"));
  settings.finish();
  return options;
}

TEST(ImagesSetting, ReadsEveryKey) {
  const auto folder = test::scratch();
  fs::create_directories(folder / "a");
  fs::create_directories(folder / "b");
  const auto options = setting(
      "data: {folder: a, validation_folder: b, image_shape: [3, 32, 48], range: [0, 2], memory_gib: 0.5}", folder);
  EXPECT_EQ(options.folder, folder / "a");
  EXPECT_EQ(options.validation_folder, folder / "b");
  EXPECT_EQ(options.channels, 3);
  EXPECT_EQ(options.height, 32);
  EXPECT_EQ(options.width, 48);
  EXPECT_EQ(options.low, 0);
  EXPECT_EQ(options.high, 2);
  EXPECT_EQ(options.memory_limit, uint64_t{1} << 29);
  EXPECT_EQ(setting("data: {folder: a, image_shape: [1, 8, 8]}", folder).validation_share, 0.05);
}

TEST(ImagesSetting, RefusesWhatMakesNoSense) {
  const auto folder = test::scratch();
  fs::create_directories(folder / "a");
  const auto error = [&](const std::string& text) { return message_of([&] { setting(text, folder); }); };
  EXPECT_TRUE(contains(error("data: {folder: z, image_shape: [1, 8, 8]}"), "data.folder: expected an existing folder"));
  EXPECT_TRUE(contains(error("data: {folder: a, image_shape: [2, 8, 8]}"), "expected 1 or 3 channels, found 2"));
  EXPECT_TRUE(contains(error("data: {folder: a, image_shape: [1, 8, 8], range: [1, 0]}"), "data.range"));
  EXPECT_TRUE(contains(error("data: {folder: a, image_shape: [1, 8, 8], range: [0, 1e7]}"), "data.range"));
  EXPECT_TRUE(contains(error("data: {folder: a, image_shape: [1, 8, 8], range: [0, 1e-7]}"), "data.range"));
  EXPECT_TRUE(contains(error("data: {folder: a, validation_folder: a, validation_share: 0.1, image_shape: [1, 8, 8]}"),
                       "either a validation_folder or a validation_share"));
  for (const auto* holds : {"a", "."})
    EXPECT_TRUE(
        contains(error(fmt::format("data: {{folder: a, validation_folder: {}, image_shape: [1, 8, 8]}}", holds)),
                 "data.validation_folder: expected a folder that does not hold the images to train on"));
}

}  // namespace
}  // namespace penumbra::training
