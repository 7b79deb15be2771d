// fastMRI's HDF5: one slice at a time, its mask, and every file that only looks like it.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "io/file.h"
#include "io/hdf5_kspace.h"
#include "io/kspace.h"
#include "support/damaged_file.h"
#include "support/message.h"
#include "support/paths.h"
#include "support/scans.h"

namespace penumbra::io {
namespace {

namespace fs = std::filesystem;
using test::contains;
using test::message_of;
using test::numbered_kspace;

struct FastMriFile : testing::Test {
  fs::path path = test::scratch() / "scan.h5";

  void SetUp() override {
    EXPECT_EQ(reads_hdf5(), test::writes_hdf5());
    if (!test::writes_hdf5()) GTEST_SKIP() << "built without HDF5";
  }
  void write(const test::FastMri& content) { test::write_fastmri(path, content); }
  std::string error(int64_t slice = 0) {
    return message_of([&] { read_kspace(path, slice); });
  }
};

TEST_F(FastMriFile, IsReadSliceBySlice) {
  const auto full = numbered_kspace({3, 2, 4, 5});
  for (const bool deflated : {false, true})
    for (const auto type : {at::kComplexFloat, at::kComplexDouble}) {
      write({.kspace = full.to(type), .deflated = deflated});
      const auto kspace = read_kspace(path, 2);
      EXPECT_TRUE(at::equal(kspace.samples, full[2]));
      EXPECT_EQ(kspace.samples.scalar_type(), at::kComplexFloat);
      EXPECT_EQ(kspace.slices, 3);
      EXPECT_EQ(kspace.format, "fastmri");
      EXPECT_TRUE(kspace.mask.all().item<bool>());
    }
}

TEST_F(FastMriFile, OfASingleCoilHasNoCoilDimension) {
  const auto full = numbered_kspace({3, 4, 5});
  write({.kspace = full});
  EXPECT_TRUE(at::equal(read_kspace(path, 1).samples, full.narrow(0, 1, 1)));
}

TEST_F(FastMriFile, MaskIsOneNumberAColumn) {
  const auto full = numbered_kspace({1, 2, 3, 4});
  const auto columns = at::tensor({1, 0, 1, 1}).to(at::kBool);
  for (const auto& mask : {columns, columns.to(at::kFloat)}) {
    write({.kspace = full, .mask = mask});
    const auto kspace = read_kspace(path);
    EXPECT_TRUE(at::equal(kspace.mask, columns.expand({3, 4})));
    // What the mask leaves out was not acquired, whatever the file holds there.
    EXPECT_TRUE(at::equal(kspace.samples, full[0] * columns));
  }
}

TEST_F(FastMriFile, MaskOfAnotherSizeIsRefused) {
  write({.kspace = numbered_kspace({1, 2, 3, 4}), .mask = at::ones({3})});
  EXPECT_TRUE(contains(error(), "scan.h5: mask: expected 4 numbers, one a column of kspace, found [3]")) << error();
}

TEST_F(FastMriFile, AttributesAreNotes) {
  write({.kspace = numbered_kspace({1, 2, 3, 4})});
  const auto notes = read_hdf5_notes(path);
  const std::vector<std::pair<std::string, std::string>> expected{{"acquisition", "AXT2"}, {"max", "0.25"}};
  EXPECT_EQ(notes, expected);
}

TEST_F(FastMriFile, WithoutKspaceSaysWhatItHas) {
  write({.kspace = numbered_kspace({2, 2}), .name = "reconstruction"});
  EXPECT_TRUE(contains(error(),
                       "scan.h5: expected a dataset `kspace` (fastMRI) or a group with `xml` and `data` "
                       "(ISMRMRD), found reconstruction"))
      << error();
}

TEST_F(FastMriFile, OfAnotherRankOrTypeIsRefused) {
  write({.kspace = numbered_kspace({4, 4})});
  EXPECT_TRUE(contains(error(), "scan.h5: kspace: expected (slices, H, W) or (slices, coils, H, W), found [4x4]"));
  write({.kspace = numbered_kspace({1, 1, 1, 4, 4})});
  EXPECT_TRUE(contains(error(), "found [1x1x1x4x4]"));
  write({.kspace = at::ones({1, 4, 4})});
  EXPECT_TRUE(contains(error(), "scan.h5: kspace: expected complex numbers"));
}

TEST_F(FastMriFile, RefusesASliceThatIsNotThere) {
  write({.kspace = numbered_kspace({2, 1, 4, 4})});
  EXPECT_TRUE(contains(error(2), "scan.h5: kspace: slice: expected 0 to 1, found 2"));
  EXPECT_TRUE(contains(error(-1), "found -1"));
}

TEST_F(FastMriFile, NamesTheFirstNumberThatIsNotFinite) {
  auto samples = numbered_kspace({2, 2, 3, 4});
  at::view_as_real(samples)[1][1][2][0][0] = NAN;
  write({.kspace = samples});
  EXPECT_EQ(error(0), "");  // another slice
  EXPECT_TRUE(contains(error(1), "first at [1, 2, 0]"));
}

TEST_F(FastMriFile, TruncatedIsRefused) {
  write({.kspace = numbered_kspace({2, 2, 8, 8})});
  const auto whole = read_file(path);
  for (const size_t size : {size_t{8}, size_t{100}, whole.size() / 2, whole.size() - 1}) {
    write_file(path, whole.substr(0, size));
    EXPECT_TRUE(contains(error(), "scan.h5: ")) << size;
  }
}

TEST_F(FastMriFile, DamagedIsReadOrRefused) {
  write({.kspace = numbered_kspace({2, 2, 4, 4}), .mask = at::ones({4}, at::kBool), .deflated = true});
  test::expect_read_or_refused(path, [&](unsigned k) {
    EXPECT_EQ(read_kspace(path, 1).samples.dim(), 3);
    if (k % 10 == 1) read_hdf5_notes(path);
  });
}

}  // namespace
}  // namespace penumbra::io
