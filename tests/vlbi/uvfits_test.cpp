#include "vlbi/uvfits.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <set>
#include <string>

#include "io/file.h"
#include "io/fits_reader.h"
#include "io/fits_writer.h"
#include "support/damaged_file.h"
#include "support/message.h"
#include "support/npz.h"
#include "support/paths.h"
#include "vlbi/example.h"
#include "vlbi/golden.h"

namespace penumbra::vlbi {
namespace {

namespace fs = std::filesystem;
using test::contains;
using test::message_of;

class Uvfits : public testing::Test {
 protected:
  void SetUp() override {
    if (!io::reads_fits()) GTEST_SKIP() << "built without CFITSIO";
  }
};

Observation parse(const std::string& bytes) { return parse_uvfits(bytes, "x.uvfits"); }
std::string example_bytes() { return format_uvfits(example_observation(), "x.uvfits"); }

/// The bytes with the card of this keyword, in the first place where it occurs, saying something else.
std::string with_card(std::string bytes, std::string keyword, const std::string& value) {
  keyword.resize(8, ' ');
  auto card = keyword + "= " + value;
  card.resize(80, ' ');
  for (size_t at = 0; at < bytes.size(); at += 80)
    if (bytes.compare(at, 10, keyword + "= ") == 0) return bytes.replace(at, 80, card);
  throw std::logic_error("no card " + keyword);
}

/// The bytes of group `row`: nine parameters and twelve values, big-endian floats.
size_t group_at(const std::string& bytes, size_t row) {
  size_t end = 0;
  while (bytes.compare(end, 8, "END     ") != 0) end += 80;
  return (end / 2880 + 1) * 2880 + 84 * row;
}

void put_float(std::string& bytes, size_t at, float value) {
  uint32_t word = 0;
  std::memcpy(&word, &value, 4);
  for (int i = 0; i < 4; ++i) bytes[at + i] = static_cast<char>(word >> (24 - 8 * i));
}

TEST_F(Uvfits, RoundTripKeepsWhatFloatsCanHold) {
  const auto written = example_observation();
  const auto path = test::scratch() / "x.uvfits";
  write_uvfits(path, written);
  const auto read = read_uvfits(path);
  EXPECT_EQ(read.source, written.source);
  EXPECT_NEAR(read.right_ascension, written.right_ascension, 1e-14);
  EXPECT_NEAR(read.declination, written.declination, 1e-14);
  EXPECT_EQ(read.frequency, written.frequency);
  EXPECT_EQ(read.bandwidth, written.bandwidth);
  EXPECT_EQ(read.mjd, written.mjd);
  EXPECT_EQ(read.dropped, 0);
  ASSERT_EQ(read.stations.size(), written.stations.size());
  for (size_t i = 0; i < read.stations.size(); ++i) {
    EXPECT_EQ(read.stations[i].name, written.stations[i].name);
    EXPECT_EQ(read.stations[i].position, written.stations[i].position);
    EXPECT_EQ(read.stations[i].sefd_right, written.stations[i].sefd_right);
  }
  ASSERT_EQ(read.visibilities.size(), written.visibilities.size());
  constexpr double half_digit = 0x1p-24;
  for (size_t i = 0; i < read.visibilities.size(); ++i) {
    const auto &a = read.visibilities[i], &b = written.visibilities[i];
    EXPECT_EQ(a.first, b.first);
    EXPECT_EQ(a.second, b.second);
    EXPECT_NEAR(a.time, b.time, 24 * half_digit);
    EXPECT_NEAR(a.seconds, b.seconds, half_digit * b.seconds);
    EXPECT_NEAR(a.u, b.u, 1.001 * half_digit * std::abs(b.u));  // and a double's scaling there and back
    EXPECT_NEAR(a.v, b.v, 1.001 * half_digit * std::abs(b.v));
    EXPECT_NEAR(a.value.real(), b.value.real(), half_digit * std::abs(b.value.real()));
    EXPECT_NEAR(a.value.imag(), b.value.imag(), half_digit * std::abs(b.value.imag()));
    EXPECT_NEAR(a.sd, b.sd, half_digit * b.sd);
  }
}

TEST_F(Uvfits, LongNamesOfStationsAreKept) {
  auto written = example_observation();
  written.stations[1].name = "OBSERVATORY-EAST";
  written.stations[2].name = "OBSERVATORY-WEST";
  const auto bytes = format_uvfits(written, "x.uvfits");
  EXPECT_TRUE(contains(bytes, "'16A     '"));
  const auto read = parse(bytes);
  ASSERT_EQ(read.stations.size(), written.stations.size());
  for (size_t i = 0; i < read.stations.size(); ++i) {
    EXPECT_EQ(read.stations[i].name, written.stations[i].name);
    EXPECT_EQ(read.stations[i].position, written.stations[i].position);
  }
  EXPECT_TRUE(contains(example_bytes(), "'8A      '"));
}

TEST_F(Uvfits, TurnsBaselinesAndDropsFlaggedRows) {
  auto bytes = example_bytes();
  const auto before = parse(bytes);
  // Station 2 with 1 in place of 1 with 2.
  put_float(bytes, group_at(bytes, 0) + 12, 2 * 256 + 1);
  // No weight in either hand; a value that is no number; one hand alone.
  for (const size_t hand : {0, 1}) put_float(bytes, group_at(bytes, 1) + 4 * (9 + 3 * hand + 2), hand == 0 ? 0 : -1);
  for (const size_t hand : {0, 1}) put_float(bytes, group_at(bytes, 2) + 4 * (9 + 3 * hand), NAN);
  put_float(bytes, group_at(bytes, 4) + 4 * 11, NAN);
  put_float(bytes, group_at(bytes, 4) + 4 * 17, INFINITY);                 // RL's weight: nobody asks
  put_float(bytes, group_at(bytes, before.visibilities.size() - 1), NAN);  // u of the last
  const auto after = parse(bytes);
  EXPECT_EQ(after.dropped, 3);
  EXPECT_EQ(after.weightless, 2);
  EXPECT_EQ(after.malformed, 1);
  ASSERT_EQ(after.visibilities.size(), before.visibilities.size() - 3);
  EXPECT_EQ(after.visibilities[0].first, 0);
  EXPECT_EQ(after.visibilities[0].u, -before.visibilities[0].u);
  EXPECT_EQ(after.visibilities[0].v, -before.visibilities[0].v);
  EXPECT_EQ(after.visibilities[0].value, std::conj(before.visibilities[0].value));
  EXPECT_EQ(after.visibilities[2].value, before.visibilities[4].value);
  EXPECT_NEAR(after.visibilities[2].sd, std::sqrt(2) * before.visibilities[4].sd, 1e-15);
}

/// One row of stations 1 and 2 with two channels in each of two IFs, and its table of IFs.
std::string bytes_with_channels(bool with_bands) {
  io::FitsWriter file("x");
  file.begin_groups({0, 3, 1, 2, 2}, 4, 1);
  int axis = 2;
  for (const auto* type : {"COMPLEX", "STOKES", "FREQ", "IF"}) file.text(fmt::format("CTYPE{}", axis++), type);
  file.number("CRVAL3", 1);  // Stokes I
  file.number("CDELT3", 1);
  file.number("CRVAL4", 100e9);
  file.number("CDELT4", 2e9);
  file.number("OBSRA", 30);
  file.number("OBSDEC", 4);
  int parameter = 1;
  for (const auto* type : {"UU", "VV", "BASELINE", "DATE"}) file.text(fmt::format("PTYPE{}", parameter++), type);
  // Real part, imaginary part and weight; the third is flagged.
  const std::array<float, 4> parameters{1e-2F, -2e-2F, 258, 2457850};
  const std::array<float, 12> values{1, 0, 1, 0, 2, 3, 50, 50, 0, 4, 0, 1};
  file.group(1, parameters, values);
  file.begin_table("AIPS AN", {{"ANNAME", "8A", ""}, {"STABXYZ", "3D", ""}, {"NOSTA", "1J", ""}}, 2);
  file.column(1, std::vector<std::string>{"A", "B"});
  file.column(2, std::vector<double>{1, 2, 3, 4, 5, 6});
  file.column(3, std::vector<double>{1, 2});
  if (with_bands) {
    file.begin_table("AIPS FQ", {{"IF FREQ", "2D", ""}}, 1);
    file.column(1, std::vector<double>{0, 10e9});
  }
  return file.finish();
}

TEST_F(Uvfits, ChannelsAndBandsAreAveragedByTheirWeights) {
  const auto read = parse(bytes_with_channels(true));
  // Channels at 100 and 102 GHz, and the same 10 GHz above.
  EXPECT_DOUBLE_EQ(read.frequency, 106e9);
  EXPECT_DOUBLE_EQ(read.bandwidth, 8e9);
  EXPECT_DOUBLE_EQ(read.right_ascension, 2);
  ASSERT_EQ(read.visibilities.size(), 1U);
  const auto& row = read.visibilities[0];
  EXPECT_EQ(row.value, std::complex(1.0, 6.0 / 5));
  EXPECT_DOUBLE_EQ(row.sd, 1 / std::sqrt(5));
  EXPECT_NEAR(row.u, 1e-2 * 106e9, 1e-8 * 106e9);
  EXPECT_EQ(read.mjd, 57849);
  EXPECT_DOUBLE_EQ(row.time, 12);  // Julian days begin at noon
  const auto message = message_of([] { parse(bytes_with_channels(false)); });
  EXPECT_TRUE(contains(message, "AIPS FQ with the frequencies of 2 IFs, found none")) << message;
}

TEST_F(Uvfits, BadFilesAreNamedWithFieldAndFinding) {
  const auto good = example_bytes();
  const auto refusal = [](const std::string& bytes) { return message_of([&] { parse(bytes); }); };
  const auto expect = [&](const std::string& bytes, const std::vector<std::string>& parts) {
    const auto message = refusal(bytes);
    EXPECT_TRUE(contains(message, "x.uvfits: ")) << message;
    for (const auto& part : parts) EXPECT_TRUE(contains(message, part)) << message << "\nlacks: " << part;
  };
  expect("not FITS at all", {"expected a FITS file"});
  expect("", {"expected a FITS file"});
  expect(good.substr(0, 1000), {"part 1", "END"});
  expect(good.substr(0, group_at(good, 1)), {"GCOUNT", "truncated"});
  expect(with_card(good, "GCOUNT", "900000000"), {"GCOUNT", "truncated"});
  expect(with_card(good, "GCOUNT", "-5"), {"GCOUNT"});
  // As if most of the data were not there: what follows is neither a table nor the file's end.
  expect(with_card(good, "GCOUNT", "1"), {"part 1", "XTENSION", "GCOUNT do not match the size of the data"});
  expect(with_card(good, "PCOUNT", "0"), {"part 1", "PCOUNT", "do not match the size of the data"});
  expect(with_card(good, "NAXIS3", "1"), {"part 1", "NAXISn", "do not match the size of the data"});
  expect(with_card(good, "NAXIS4", "1e3"), {"NAXIS4", "whole number", "1e3"});
  auto odd = good;
  odd[odd.find("GROUPS  =") + 6] = '\x0f';
  expect(odd, {"part 1", "expected a keyword of capitals", "GROUPS"});
  expect(with_card(good, "TFIELDS", "4000"), {"part 2", "TFIELDS", "999"});
  expect(with_card(good, "GROUPS", "F"), {"GROUPS", "do not match the size of the data"});
  expect(with_card(good, "CTYPE2", "'SIMPLEX '"), {"NAXIS2", "SIMPLEX", "found 3"});
  expect(with_card(good, "CTYPE3", "'RA      '"), {"NAXIS3", "expected 1", "found 4"});
  expect(with_card(good, "CRVAL3", "-7.0"), {"CRVAL3", "RR or LL"});
  expect(with_card(good, "CRVAL4", "'high'"), {"CRVAL4", "expected a number", "high"});
  expect(with_card(good, "CRVAL4", "-1.0"), {"CRVAL", "frequency > 0"});
  expect(with_card(good, "PTYPE4", "'BASES   '"), {"PTYPE", "BASELINE"});
  expect(with_card(good, "EXTNAME", "'AIPS XX '"), {"AIPS AN", "found none"});
  expect(with_card(good, "TTYPE2", "'SOMEWHERE'"), {"AIPS AN", "STABXYZ"});
  expect(with_card(good, "TTYPE4", "'MNTSTA'"), {"AIPS AN", "NOSTA"});

  auto stranger = good;
  put_float(stranger, group_at(stranger, 0) + 12, 256 + 77);
  expect(stranger, {"BASELINE", "77"});
  auto weightless = good;
  for (size_t row = 0; row < example_observation().visibilities.size(); ++row)
    for (const size_t hand : {0, 1}) put_float(weightless, group_at(good, row) + 4 * (11 + 3 * hand), NAN);
  expect(weightless, {"weights > 0", "found none"});
  const auto with = [&](int64_t parameter, float value) {
    auto damaged = good;
    for (size_t row = 0; row < example_observation().visibilities.size(); ++row)
      put_float(damaged, group_at(good, row) + 4 * parameter, value);
    return damaged;
  };
  expect(with(0, NAN), {"UU, VV", "finite"});
  expect(with(3, 257), {"BASELINE", "one station with itself"});
  expect(with(3, 0), {"BASELINE", "256 a + b"});
  expect(with(4, NAN), {"DATE", "Julian"});
  expect(with_card(good, "PSCAL1", "0.0"), {"PSCAL1", "other than 0"});
  expect(with_card(good, "FREQ", "1.0E9"), {"AIPS AN", "FREQ", "within 10 %", "1e+09"});
  auto lonely = example_observation();
  lonely.stations.resize(1);
  expect(format_uvfits(lonely, "x"), {"AIPS AN", "two stations", "found 1"});
}

TEST_F(Uvfits, DamagedFilesAreReadOrRefused) {
  const auto path = test::scratch() / "x.uvfits";
  write_uvfits(path, example_observation());
  test::expect_read_or_refused(path, [&](unsigned) { read_uvfits(path); });
}

TEST_F(Uvfits, EveryPublishedFileIsRead) {
  const auto folder = test::shared("data/eht");
  if (!folder) GTEST_SKIP() << "no ../shared/data/eht";
  int files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(*folder))
    if (entry.path().extension() == ".uvfits") {
      const auto observation = read_uvfits(entry.path());
      EXPECT_EQ(observation.dropped, 0) << entry.path();
      double longest = 0;
      for (const auto& row : observation.visibilities) longest = std::max(longest, std::hypot(row.u, row.v));
      EXPECT_GT(longest, 5e9) << entry.path();  // baselines as long as the earth is wide at 1.3 mm
      EXPECT_LT(longest, 10e9) << entry.path();
      ++files;
    }
  EXPECT_EQ(files, 18);
  const auto other = test::shared("data/blackhole/pnpdm/obs.uvfits");
  ASSERT_TRUE(other);
  EXPECT_EQ(read_uvfits(*other).visibilities.size(), 938U);
}

/// What the header says of the layout, of all parts: axes, random parameters, columns.
std::multiset<std::string> layout_of(const std::string& fits) {
  constexpr size_t card = 80, value = 10, value_end = 30;
  std::multiset<std::string> cards;
  for (size_t at = 0; at + card <= fits.size(); at += card)
    for (const std::string key : {"BITPIX", "NAXIS ", "CTYPE", "PTYPE", "TTYPE", "TFORM", "EXTNAME", "PCOUNT"})
      if (fits.compare(at, key.size(), key) == 0 && fits.compare(at + 8, 2, "= ") == 0) {
        auto text = fits.substr(at + value, value_end - value);
        std::erase(text, ' ');
        cards.insert(fits.substr(at, 8) + text);
      }
  return cards;
}

/// tests/peers/ehtim_check.py lets ehtim read our files; where there is no ehtim, this holds them to what it writes.
TEST_F(Uvfits, FilesAreLaidOutAsEhtims) {
  const auto theirs = test::shared("data/blackhole/pnpdm/obs.uvfits");
  if (!theirs) GTEST_SKIP() << "no ../shared/data/blackhole";
  const auto ours = layout_of(format_uvfits(example_observation(), "x"));
  EXPECT_EQ(ours, layout_of(io::read_file(*theirs)));
  EXPECT_EQ(ours.count("EXTNAME 'AIPSAN'"), 1U);
}

class UvfitsGolden : public testing::TestWithParam<std::string> {};

// Tolerances as golden/README.md has them: it averages the hands in float32.
TEST_P(UvfitsGolden, RowsAndSumsAreEhtims) {
  const auto& name = GetParam();
  const auto file = test::shared("data/eht/2019-D01-01_M87_2017/SR1_" + name + "_hops_netcal_StokesI.uvfits");
  const auto golden = test::shared("interferometry/golden/" + name + ".npz");
  if (!io::reads_fits() || !file || !golden) GTEST_SKIP() << "no CFITSIO, or no ../shared/interferometry";
  const auto arrays = test::read_npz(*golden);
  const auto rows = read_uvfits(*file).visibilities;
  const auto& index = arrays.at("raw_rows/index");
  const auto number = [&](const char* key, int64_t i) {
    return arrays.at(std::string("raw_rows/") + key)[i].item<double>();
  };
  for (int64_t i = 0; i < index.numel(); ++i) {
    const auto& row = rows.at(static_cast<size_t>(index[i].item<int64_t>()));
    EXPECT_EQ(row.first, number("i1", i));
    EXPECT_EQ(row.second, number("i2", i));
    EXPECT_NEAR(row.time, number("time", i), 1e-12 * 24);
    EXPECT_NEAR(row.seconds, number("tint", i), 1e-12 * row.seconds);
    EXPECT_NEAR(row.u, number("u", i), 1e-12 * 1e10);
    EXPECT_NEAR(row.v, number("v", i), 1e-12 * 1e10);
    EXPECT_NEAR(row.sd, number("sigma", i), 2e-7 * row.sd);
    const auto value = arrays.at("raw_rows/vis")[i].item<c10::complex<double>>();
    EXPECT_LT(std::abs(row.value - std::complex(value.real(), value.imag())), 2e-7 * std::abs(row.value));
  }
  double sum_v = 0, sum_abs = 0, sum_time = 0, sum_inverse = 0;
  for (const auto& row : rows) {
    sum_v += row.v;
    sum_abs += std::abs(row.value);
    sum_time += row.time;
    sum_inverse += 1 / (row.sd * row.sd);
  }
  const auto sum = [&](const std::string& key) { return arrays.at("raw_sums/sum_" + key).item<double>(); };
  EXPECT_NEAR(sum_v, sum("v"), 1e-12 * 1e10 * static_cast<double>(rows.size()));
  EXPECT_NEAR(sum_abs, sum("abs_vis"), 2e-7 * sum_abs);
  EXPECT_NEAR(sum_time, sum("time"), 1e-11 * sum_time);
  EXPECT_NEAR(sum_inverse, sum("inv_var"), 4e-7 * sum_inverse);
}

INSTANTIATE_TEST_SUITE_P(M87, UvfitsGolden, testing::ValuesIn(test::golden_observations()));

}  // namespace
}  // namespace penumbra::vlbi
