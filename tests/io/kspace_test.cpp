// k-space from NPY and BART: the slice, the coils, the plane and the mask; what is not k-space is refused.
#include "io/kspace.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "io/cfl.h"
#include "io/file.h"
#include "io/npy.h"
#include "support/message.h"
#include "support/paths.h"
#include "support/scans.h"

namespace penumbra::io {
namespace {

namespace fs = std::filesystem;
using test::contains;
using test::message_of;
using test::numbered_kspace;

fs::path npy(const Tensor& array) {
  const auto path = test::scratch() / "k.npy";
  write_npy(path, array);
  return path;
}

std::string kspace_error(const fs::path& path, int64_t slice = 0) {
  return message_of([&] { read_kspace(path, slice); });
}

/// A BART pair with these sizes and the numbers 1, 2, ... in the order of the file.
fs::path bart(const std::string& sizes, int64_t count) {
  const auto stem = test::scratch() / "k";
  const auto numbers = numbered_kspace({count});
  write_file(stem.string() + ".hdr", "# Dimensions\n" + sizes + "\n");
  write_file(stem.string() + ".cfl", {static_cast<const char*>(numbers.data_ptr()), numbers.nbytes()});
  return stem;
}

TEST(Kspace, ReadsPlanesCoilsAndSlicesFromNpy) {
  const auto full = numbered_kspace({2, 3, 4, 5});
  const auto volume = read_kspace(npy(full), 1);
  EXPECT_TRUE(at::equal(volume.samples, full[1]));
  EXPECT_EQ(volume.slices, 2);
  EXPECT_EQ(volume.format, "npy");
  EXPECT_FALSE(volume.noise.defined());
  EXPECT_TRUE(volume.mask.all().item<bool>());
  EXPECT_TRUE(at::equal(read_kspace(npy(full[0])).samples, full[0]));
  EXPECT_TRUE(at::equal(read_kspace(npy(full[0][2])).samples, full[0][2].unsqueeze(0)));
  EXPECT_TRUE(at::equal(read_kspace(npy(full[0].to(at::kComplexDouble))).samples, full[0]));
}

TEST(Kspace, MaskIsWhereAnyCoilIsNotZero) {
  auto samples = numbered_kspace({2, 3, 4});
  samples.select(2, 1).zero_();
  samples[0][0][0] = 0;  // the other coil has it
  const auto mask = read_kspace(npy(samples)).mask;
  auto expected = at::ones({3, 4}, at::kBool);
  expected.select(1, 1).zero_();
  EXPECT_TRUE(at::equal(mask, expected));
}

TEST(Kspace, RefusesWhatIsNoKspace) {
  EXPECT_TRUE(contains(kspace_error(npy(at::ones({4, 4}))), "k.npy: expected complex numbers, found Float"));
  for (const auto& shape : std::vector<std::vector<int64_t>>{{4}, {0, 4}, {1, 1, 1, 2, 2}})
    EXPECT_TRUE(contains(kspace_error(npy(numbered_kspace(shape))), "k.npy: expected k-space [H, W]")) << shape.size();
  EXPECT_TRUE(contains(kspace_error(npy(at::zeros({4, 4}, at::kComplexFloat))), "found zeros alone"));
  EXPECT_TRUE(contains(kspace_error("/nonexistent/k.h5"), "/nonexistent/k.h5: no such file"));
  const auto other = test::scratch() / "k.txt";
  write_file(other, "hello");
  EXPECT_TRUE(contains(kspace_error(other), "k.txt: expected k-space as NPY"));
}

TEST(Kspace, RefusesASliceThatIsNotThere) {
  const auto path = npy(numbered_kspace({2, 1, 4, 4}));
  EXPECT_TRUE(contains(kspace_error(path, 2), "k.npy: slice: expected 0 to 1, found 2"));
  EXPECT_TRUE(contains(kspace_error(path, -1), "found -1"));
}

TEST(Kspace, NamesTheFirstNumberThatIsNotFinite) {
  auto samples = numbered_kspace({2, 3, 4});
  at::view_as_real(samples)[1][2][3][1] = NAN;
  EXPECT_TRUE(contains(kspace_error(npy(samples)), "found NaN or infinity 1 times, first at [1, 2, 3]"));
  at::view_as_real(samples)[0][1][2][0] = INFINITY;
  EXPECT_TRUE(contains(kspace_error(npy(samples)), "2 times, first at [0, 1, 2]"));
  // Too large for float32.
  EXPECT_TRUE(contains(kspace_error(npy(at::full({2, 2}, 1e300, at::kComplexDouble))), "first at [0, 0, 0]"));
}

TEST(Kspace, TakesThePlaneOfBartFromTheDimensionsThatAreNotOne) {
  // Coil c, row r and column j of 2x3 is number r + 2 j + 6 c from the file's beginning, whichever is 1.
  for (const auto* sizes : {"2 3 1 4", "2 1 3 4", "1 2 3 4"}) {
    const auto kspace = read_kspace(bart(sizes, 24));
    ASSERT_EQ(kspace.samples.sizes(), (std::vector<int64_t>{4, 2, 3})) << sizes;
    EXPECT_EQ(at::real(kspace.samples[3][1][2]).item<float>(), 1 + 1 + 2 * 2 + 6 * 3) << sizes;
    EXPECT_EQ(at::real(kspace.samples[0][1][0]).item<float>(), 2) << sizes;
    EXPECT_EQ(kspace.format, "bart");
  }
}

TEST(Kspace, TakesSlicesOfBart) {
  const auto path = bart("2 3 1 1 1 1 1 1 1 1 1 1 1 2", 12);
  EXPECT_EQ(read_kspace(path).slices, 2);
  EXPECT_EQ(at::real(read_kspace(path, 1).samples[0][0][0]).item<float>(), 7);
  EXPECT_TRUE(contains(kspace_error(path, 2), "slice: expected 0 to 1, found 2"));
}

TEST(Kspace, RefusesVolumesAndOtherDimensionsOfBart) {
  EXPECT_TRUE(contains(kspace_error(bart("2 3 2 1", 12)), "found a 3-D volume 2x3x2"));
  EXPECT_TRUE(contains(kspace_error(bart("2 3 1 1 2", 12)), "MAPS: expected 1, found 2"));
  EXPECT_TRUE(contains(kspace_error(bart("2 3 1 1 1 1 1 1 1 1 2", 12)), "TIME: expected 1, found 2"));
}

TEST(Kspace, ComplexArraysAreInTheOrderOfTheSamples) {
  const auto maps = numbered_kspace({4, 2, 3});
  const auto stem = test::scratch() / "maps";
  write_cfl(stem, maps, {cfl_coil});
  EXPECT_TRUE(at::equal(read_complex(stem), maps));
  EXPECT_TRUE(at::equal(read_complex(npy(maps.unsqueeze(1).to(at::kComplexDouble))), maps));
  EXPECT_TRUE(at::equal(read_complex(npy(at::ones({2, 2}))), at::ones({2, 2}, at::kComplexFloat)));
  EXPECT_TRUE(contains(message_of([] { read_complex(npy(at::full({2, 2}, NAN))); }), "first at [0, 0]"));
}

TEST(Kspace, TheSharedScanLooksLikeOne) {
  const auto path = test::shared("data/kspace/espirit_full8ch/full.cfl");
  if (!path) GTEST_SKIP() << "no ../shared/data/kspace";
  const auto kspace = read_kspace(*path);
  ASSERT_EQ(kspace.samples.sizes(), (std::vector<int64_t>{8, 230, 180}));
  EXPECT_EQ(kspace.slices, 1);
  EXPECT_TRUE(kspace.mask.all().item<bool>());
  // An image is mostly low frequencies: a hundredth of the area, around the middle, holds most of the energy.
  const auto energy = kspace.samples.abs().square().sum(0);
  const auto centre = energy.narrow(0, 115 - 11, 23).narrow(1, 90 - 9, 18);
  EXPECT_GT((centre.sum() / energy.sum()).item<double>(), 0.8);
  // The sum over the coils is largest within a few samples of the zero frequency.
  const auto largest = energy.argmax().item<int64_t>();
  EXPECT_NEAR(static_cast<double>(largest / 180), 115, 4);
  EXPECT_NEAR(static_cast<double>(largest % 180), 90, 4);
}

}  // namespace
}  // namespace penumbra::io
