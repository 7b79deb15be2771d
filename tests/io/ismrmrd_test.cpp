// ISMRMRD: readouts land where their counters say, averages are averaged, the noise scan is kept apart.
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
using test::ismrmrd_xml;
using test::Line;
using test::message_of;
using test::numbered_kspace;

constexpr int noise_flag = 19, calibration_flag = 20, reverse_flag = 22, navigation_flag = 23;

struct IsmrmrdFile : testing::Test {
  fs::path path = test::scratch() / "scan.h5";
  Tensor full = numbered_kspace({2, 8, 6});  ///< coils, readout, lines

  void SetUp() override {
    EXPECT_EQ(reads_ismrmrd(), test::writes_ismrmrd());
    if (!test::writes_ismrmrd()) GTEST_SKIP() << "built without ISMRMRD";
  }
  /// The whole plane, line by line.
  std::vector<Line> plane() const {
    std::vector<Line> lines;
    for (int step = 0; step < 6; ++step) lines.push_back({.samples = full.select(2, step), .step = step, .centre = 4});
    return lines;
  }
  void write(const std::vector<Line>& lines, const std::string& xml = ismrmrd_xml(8, 6, 3)) {
    fs::remove(path);
    test::write_ismrmrd(path, xml, lines);
  }
  std::string error(int64_t slice = 0) {
    return message_of([&] { read_kspace(path, slice); });
  }
};

TEST_F(IsmrmrdFile, FillsTheGridLineByLine) {
  write(plane());
  const auto kspace = read_kspace(path);
  EXPECT_TRUE(at::equal(kspace.samples, full));
  EXPECT_TRUE(kspace.mask.all().item<bool>());
  EXPECT_EQ(kspace.slices, 1);
  EXPECT_EQ(kspace.format, "ismrmrd");
  EXPECT_FALSE(kspace.noise.defined());
  EXPECT_FALSE(kspace.averages.defined());
}

TEST_F(IsmrmrdFile, PutsTheCentreOfTheLimitsInTheMiddle) {
  // Line 1 has zero frequency: it belongs to column 3.
  const auto lines = plane();
  write({lines[0], lines[1], lines[3]}, ismrmrd_xml(8, 6, 1));
  const auto kspace = read_kspace(path);
  EXPECT_TRUE(at::equal(kspace.mask[0], at::tensor({0, 0, 1, 1, 0, 1}).to(at::kBool)));
  EXPECT_TRUE(at::equal(kspace.samples.select(2, 3), full.select(2, 1)));
  EXPECT_TRUE(at::equal(kspace.samples.select(2, 5), full.select(2, 3)));
  EXPECT_EQ(kspace.samples.select(2, 4).abs().max().item<float>(), 0);
}

TEST_F(IsmrmrdFile, PutsAShortReadoutByItsCentre) {
  // Six samples with the zero frequency at the third: rows 2 to 7 of 8. One at either end is to be discarded.
  const auto line = full.select(2, 0).narrow(1, 0, 6);
  write({{.samples = line, .step = 3, .centre = 2, .discard_pre = 1, .discard_post = 1}});
  const auto kspace = read_kspace(path);
  EXPECT_TRUE(at::equal(kspace.mask.select(1, 3), at::tensor({0, 0, 0, 1, 1, 1, 1, 0}).to(at::kBool)));
  EXPECT_TRUE(at::equal(kspace.samples.select(2, 3).narrow(1, 3, 4), line.narrow(1, 1, 4)));
}

TEST_F(IsmrmrdFile, TakesTheMiddleWhereAFullReadoutNamesNoCentre) {
  auto lines = plane();
  for (auto& line : lines) line.centre = 0;
  write(lines);
  EXPECT_TRUE(at::equal(read_kspace(path).samples, full));
}

TEST_F(IsmrmrdFile, TurnsReversedReadoutsRound) {
  auto lines = plane();
  lines[2].samples = lines[2].samples.flip(1);
  lines[2].flags = {reverse_flag};
  write(lines);
  EXPECT_TRUE(at::equal(read_kspace(path).samples, full));
}

TEST_F(IsmrmrdFile, AveragesAverages) {
  auto lines = plane();
  lines.push_back({.samples = 3 * full.select(2, 4), .step = 4, .average = 1, .centre = 4});
  write(lines);
  const auto kspace = read_kspace(path);
  const auto& samples = kspace.samples;
  EXPECT_TRUE(at::equal(samples.select(2, 4), 2 * full.select(2, 4)));
  EXPECT_TRUE(at::equal(samples.select(2, 5), full.select(2, 5)));
  EXPECT_TRUE(at::equal(kspace.averages[0], at::tensor({1, 1, 1, 1, 2, 1}).to(at::kFloat)));
}

TEST_F(IsmrmrdFile, KeepsNoiseApartAndLeavesOutWhatIsNoImage) {
  auto lines = plane();
  const auto noise = numbered_kspace({2, 10});
  lines.insert(lines.begin(), {.samples = noise, .step = 2, .flags = {noise_flag}});
  lines.push_back({.samples = noise + 1, .flags = {noise_flag}});
  lines.push_back({.samples = 9 * full.select(2, 0), .step = 1, .centre = 4, .flags = {navigation_flag}});
  lines.push_back({.samples = 9 * full.select(2, 0), .step = 1, .repetition = 1, .centre = 4});
  write(lines);
  const auto kspace = read_kspace(path);
  EXPECT_TRUE(at::equal(kspace.samples, full));
  EXPECT_TRUE(at::equal(kspace.noise, at::cat({noise, noise + 1}, 1)));
}

TEST_F(IsmrmrdFile, TakesCalibrationLinesUnlessTheyAreAScanOfTheirOwn) {
  auto lines = plane();
  lines[2].flags = {calibration_flag};
  const auto parallel = [](const char* mode) {
    return fmt::format(
        "<parallelImaging><accelerationFactor><kspace_encoding_step_1>2</kspace_encoding_step_1>"
        "<kspace_encoding_step_2>1</kspace_encoding_step_2></accelerationFactor>"
        "<calibrationMode>{}</calibrationMode></parallelImaging>",
        mode);
  };
  write(lines, ismrmrd_xml(8, 6, 3, "cartesian", 1, parallel("embedded")));
  EXPECT_TRUE(read_kspace(path).mask.all().item<bool>());
  write(lines, ismrmrd_xml(8, 6, 3, "cartesian", 1, parallel("separate")));
  EXPECT_FALSE(read_kspace(path).mask.select(1, 2).any().item<bool>());
}

TEST_F(IsmrmrdFile, ReadsTheSliceAskedFor) {
  auto lines = plane();
  for (auto line : plane()) {
    line.samples = -line.samples;
    line.slice = 2;
    lines.push_back(line);
  }
  write(lines);
  EXPECT_EQ(read_kspace(path).slices, 3);
  EXPECT_TRUE(at::equal(read_kspace(path, 2).samples, -full));
  EXPECT_TRUE(contains(error(1), "scan.h5: slice: no readout belongs to slice 1"));
  EXPECT_TRUE(contains(error(3), "scan.h5: slice: expected 0 to 2, found 3"));
}

TEST_F(IsmrmrdFile, FindsAGroupOfAnotherName) {
  test::write_ismrmrd(path, ismrmrd_xml(8, 6, 3), plane(), "measurement_7");
  EXPECT_TRUE(at::equal(read_kspace(path).samples, full));
}

TEST_F(IsmrmrdFile, NotesSayWhatTheHeaderKnows) {
  write(plane());
  const auto notes = read_hdf5_notes(path);
  const std::vector<std::pair<std::string, std::string>> expected{{"scanner", "Acme"},
                                                                  {"field_T", "1.5"},
                                                                  {"TR_ms", "500"},
                                                                  {"TE_ms", "10, 20"},
                                                                  {"trajectory", "cartesian"},
                                                                  {"encoded_matrix", "8x6x1, 400x200x5 mm"},
                                                                  {"reconstructed_matrix", "4x6x1, 400x200x5 mm"}};
  EXPECT_EQ(notes, expected);
}

TEST_F(IsmrmrdFile, RefusesWhatIsNotOnAPlane) {
  write(plane(), ismrmrd_xml(8, 6, 3, "radial"));
  EXPECT_TRUE(contains(error(), "scan.h5: dataset/xml: trajectory: expected cartesian, found radial")) << error();
  write(plane(), ismrmrd_xml(8, 6, 3, "cartesian", 4));
  EXPECT_TRUE(contains(error(), "matrixSize: expected a 2-D encoding, with z = 1, found 8x6x4"));
  write({{.samples = full.select(2, 0), .partition = 1, .centre = 4}});
  EXPECT_TRUE(contains(error(), "readout 0: kspace_encode_step_2: expected 0"));
}

TEST_F(IsmrmrdFile, RefusesWhatDoesNotFitItsMatrix) {
  write({{.samples = full.select(2, 0), .step = 6, .centre = 4}});
  EXPECT_TRUE(contains(error(),
                       "readout 0: kspace_encode_step_1: expected a line of the encoded matrix, 0 to 5, "
                       "found 6"))
      << error();
  write({{.samples = full.select(2, 0), .centre = 2}});
  EXPECT_TRUE(contains(error(), "expected a readout within the encoded matrix of 8 samples"));
  auto lines = plane();
  lines[1].samples = lines[1].samples.narrow(0, 0, 1);
  write(lines);
  EXPECT_TRUE(contains(error(), "readout 1: active_channels: expected 2, as the readouts before it, found 1"));
  lines = plane();
  lines.push_back({.samples = numbered_kspace({1, 4}), .flags = {noise_flag}});
  write(lines);
  EXPECT_TRUE(contains(error(), "the noise scan has 1 channels; expected 2"));
  write({{.samples = full.select(2, 0), .centre = 4, .discard_pre = 5, .discard_post = 5}});
  EXPECT_TRUE(contains(error(), "readout 0: expected samples"));
}

TEST_F(IsmrmrdFile, RefusesAFileWithoutLines) {
  write({{.samples = full.select(2, 0), .flags = {noise_flag}}});
  EXPECT_TRUE(contains(error(), "scan.h5: dataset/data: expected readouts of an image, found none"));
  write({});
  EXPECT_TRUE(contains(error(), "scan.h5: expected a dataset `kspace`"));
}

TEST_F(IsmrmrdFile, RefusesABrokenHeader) {
  write(plane(), "<ismrmrdHeader>");
  EXPECT_TRUE(contains(error(), "scan.h5: dataset/xml: expected an ISMRMRD header")) << error();
  write(plane(), ismrmrd_xml(0, 6, 3));
  EXPECT_TRUE(contains(error(), "matrixSize: expected an encoded matrix, found 0x6"));
}

TEST_F(IsmrmrdFile, NamesTheFirstNumberThatIsNotFinite) {
  at::view_as_real(full)[1][5][2][0] = NAN;
  write(plane());
  EXPECT_TRUE(contains(error(),
                       "k-space [coil, row, column]: expected finite numbers, found NaN or infinity 1 times, "
                       "first at [1, 5, 2]"));
}

TEST_F(IsmrmrdFile, DamagedIsReadOrRefused) {
  auto lines = plane();
  lines.push_back({.samples = numbered_kspace({2, 4}), .flags = {noise_flag}});
  write(lines);
  test::expect_read_or_refused(path, [&](unsigned k) {
    EXPECT_EQ(read_kspace(path).samples.dim(), 3);
    if (k % 10 == 1) read_hdf5_notes(path);
  });
}

}  // namespace
}  // namespace penumbra::io
