#include "vlbi/averaging.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "io/fits_reader.h"
#include "support/message.h"
#include "support/npz.h"
#include "support/paths.h"
#include "vlbi/closures.h"
#include "vlbi/example.h"
#include "vlbi/golden.h"
#include "vlbi/uvfits.h"

namespace penumbra::vlbi {
namespace {

using test::contains;
using test::message_of;

const Preparation raw{.average_scans = false, .min_baseline = 0, .systematic_noise = 0, .min_snr = 0};

TEST(Averaging, NothingAskedForChangesNothing) {
  const auto before = example_observation(), after = prepare(before, raw, "x");
  ASSERT_EQ(after.visibilities.size(), before.visibilities.size());
  for (size_t i = 0; i < after.visibilities.size(); ++i) {
    EXPECT_EQ(after.visibilities[i].value, before.visibilities[i].value);
    EXPECT_EQ(after.visibilities[i].sd, before.visibilities[i].sd);
  }
}

TEST(Averaging, ScansAreSplitAtGaps) {
  const auto observation = example_observation();
  const auto scans = scan_table(observation, 59.4);
  ASSERT_EQ(scans.size(), 3U);
  EXPECT_DOUBLE_EQ(scans[1].first, 2.3);
  EXPECT_DOUBLE_EQ(scans[1].second, 2.3 + 2 / 360.0);
  EXPECT_EQ(scan_table(observation, 9).size(), 9U);
  EXPECT_EQ(scan_table(observation, 3600).size(), 1U);
}

TEST(Averaging, MeansOverAScan) {
  auto observation = example_observation();
  // Station 3 comes a sample late in the first scan.
  std::erase_if(observation.visibilities, [](const Visibility& row) { return row.time == 2 && row.second == 3; });
  auto preparation = raw;
  preparation.average_scans = true;
  for (const auto rule : {ScanTime::harmonised, ScanTime::ehtim}) {
    preparation.scan_time = rule;
    const auto rows = prepare(observation, preparation, "x").visibilities;
    ASSERT_EQ(rows.size(), 18U);
    int late = 0;
    for (const auto& row : rows) {
      if (row.time > 2.1) continue;
      std::vector<Visibility> own;
      for (const auto& one : observation.visibilities)
        if (one.time < 2.1 && one.first == row.first && one.second == row.second) own.push_back(one);
      ASSERT_EQ(own.size(), row.second == 3 ? 2U : 3U);
      std::complex<double> sum;
      double u = 0, variance = 0;
      for (const auto& one : own) {
        sum += one.value;
        u += one.u;
        variance += one.sd * one.sd;
      }
      const auto n = static_cast<double>(own.size());
      EXPECT_LT(std::abs(row.value - sum / n), 1e-15);
      EXPECT_NEAR(row.u, u / n, 1e-5);
      EXPECT_NEAR(row.sd, std::sqrt(variance) / n, 1e-16);
      EXPECT_DOUBLE_EQ(row.seconds, 10 * n);
      if (row.time != 2) ++late;
    }
    EXPECT_EQ(late, rule == ScanTime::ehtim ? 3 : 0);
  }
}

TEST(Averaging, NoiseThenCutsInThisOrder) {
  auto preparation = raw;
  preparation.systematic_noise = 0.1;
  preparation.min_snr = 9.9;  // just what 10% of noise leaves
  preparation.min_baseline = 1e9;
  const auto observation = example_observation();
  size_t expected = 0;
  for (const auto& row : observation.visibilities) {
    const double amplitude = std::abs(row.value), sd = std::hypot(row.sd, 0.1 * amplitude);
    if (std::hypot(row.u, row.v) >= 1e9 && amplitude > 9.9 * sd) ++expected;
  }
  const auto rows = prepare(observation, preparation, "x").visibilities;
  EXPECT_EQ(rows.size(), expected);
  EXPECT_GT(expected, 0U);
  EXPECT_LT(expected, observation.visibilities.size());
  for (const auto& row : rows) EXPECT_GT(row.sd, 0.1 * std::abs(row.value));
}

TEST(Averaging, LongBaselinesAreLeftOutWhereAskedFor) {
  auto preparation = raw;
  preparation.min_baseline = 1e9;
  preparation.max_baseline = 3e9;
  const auto observation = example_observation();
  const auto between = [](const Visibility& row) {
    const double length = std::hypot(row.u, row.v);
    return length >= 1e9 && length <= 3e9;
  };
  const auto& all = observation.visibilities;
  const auto rows = prepare(observation, preparation, "x").visibilities;
  EXPECT_EQ(static_cast<ptrdiff_t>(rows.size()), std::count_if(all.begin(), all.end(), between));
  EXPECT_TRUE(std::all_of(rows.begin(), rows.end(), between));
  EXPECT_GT(rows.size(), 0U);
  EXPECT_LT(rows.size(), all.size());
}

/// A flagged sample is in no mean, and does not begin a scan.
TEST(Averaging, FlagsComeBeforeMeans) {
  const auto observation = example_observation();
  auto preparation = raw;
  preparation.average_scans = true;
  preparation.flags.hours = {{1.9, 2.001}};
  auto late = observation;
  std::erase_if(late.visibilities, [](const Visibility& row) { return row.time == 2; });
  const auto rows = prepare(observation, preparation, "x").visibilities;
  preparation.flags = {};
  const auto expected = prepare(late, preparation, "x").visibilities;
  ASSERT_EQ(rows.size(), expected.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].value, expected[i].value);
    EXPECT_EQ(rows[i].time, expected[i].time);
    EXPECT_EQ(rows[i].sd, expected[i].sd);
  }
}

TEST(Averaging, EveryStepCountsWhatItTakesAway) {
  const auto observation = example_observation();
  EXPECT_FALSE(observation.preparation);
  const Preparation preparation{.flags = {.stations = {"PV"}},
                                .average_scans = false,
                                .min_baseline = 1e9,
                                .max_baseline = 3e9,
                                .systematic_noise = 0,
                                .min_snr = 50};
  const auto prepared = prepare(observation, preparation, "x");
  ASSERT_TRUE(prepared.preparation);
  const auto& counts = *prepared.preparation;
  EXPECT_EQ(counts.read, 54);
  EXPECT_EQ(counts.flagged, 27);
  EXPECT_EQ(counts.averages, 27);
  int64_t too_short = 0, too_long = 0, too_faint = 0;
  for (const auto& row : observation.visibilities) {
    if (row.second == 3) continue;
    const double length = std::hypot(row.u, row.v);
    if (length < 1e9)
      ++too_short;
    else if (length > 3e9)
      ++too_long;
    else if (std::abs(row.value) <= 50 * row.sd)
      ++too_faint;
  }
  EXPECT_EQ(counts.below_min_baseline, too_short);
  EXPECT_EQ(counts.above_max_baseline, too_long);
  EXPECT_EQ(counts.below_min_snr, too_faint);
  EXPECT_EQ(static_cast<int64_t>(prepared.visibilities.size()), 27 - too_short - too_long - too_faint);
  auto usual = raw;
  usual.average_scans = true;
  EXPECT_EQ(prepare(observation, usual, "x").preparation->averages, 18);
}

TEST(Averaging, NothingLeftIsAnErrorThatNamesTheStep) {
  auto preparation = raw;
  preparation.min_baseline = 1e11;
  const auto message = message_of([&] { prepare(example_observation(), preparation, "x.uvfits"); });
  EXPECT_TRUE(contains(message, "x.uvfits: min_baseline 1e+11: ")) << message;
  EXPECT_TRUE(contains(message, "none of 54")) << message;
  preparation = raw;
  preparation.min_baseline = 1e9;
  preparation.max_baseline = 1e8;
  const auto between = message_of([&] { prepare(example_observation(), preparation, "x.uvfits"); });
  EXPECT_TRUE(contains(between, "x.uvfits: max_baseline 1e+08: ")) << between;
  EXPECT_TRUE(contains(between, "min_baseline 1e+09")) << between;
  preparation = raw;
  preparation.min_snr = 1e6;
  EXPECT_TRUE(contains(message_of([&] { prepare(example_observation(), preparation, "x"); }), "min_snr 1e+06"));
}

TEST(Averaging, SettingsHaveTheStructsDefaults) {
  auto empty = Settings::from_text("{}", "c.yaml");
  const auto defaults = preparation_setting(empty);
  const Preparation usual;
  EXPECT_EQ(defaults.average_scans, usual.average_scans);
  EXPECT_EQ(defaults.scan_time, usual.scan_time);
  EXPECT_EQ(defaults.min_snr, usual.min_snr);
  EXPECT_EQ(defaults.max_baseline, usual.max_baseline);
  EXPECT_EQ(defaults.flags.keys(), "");
  auto given = Settings::from_text(
      "{average: scan, scan_time: ehtim, scan_gap: 120, systematic_noise: 0.01, "
      "min_baseline: 0, max_baseline: 9e9, min_snr: 0, flag: {stations: [AA], hours: [[0.5, 1.25]]}}",
      "c.yaml");
  const auto read = preparation_setting(given);
  given.finish();
  EXPECT_EQ(read.scan_time, ScanTime::ehtim);
  EXPECT_EQ(read.scan_gap, 120);
  EXPECT_EQ(read.systematic_noise, 0.01);
  EXPECT_EQ(read.min_baseline, 0);
  EXPECT_EQ(read.max_baseline, 9e9);
  EXPECT_EQ(read.flags.keys(), "flag.stations, flag.hours");
  auto wrong = Settings::from_text("{average: minute}", "c.yaml");
  EXPECT_TRUE(contains(message_of([&] { preparation_setting(wrong); }), "average"));
}

class AveragingGolden : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const auto file = test::shared("data/eht/2019-D01-01_M87_2017/SR1_" + GetParam() + "_hops_netcal_StokesI.uvfits");
    const auto golden = test::shared("interferometry/golden/" + GetParam() + ".npz");
    if (!io::reads_fits() || !file || !golden) GTEST_SKIP() << "no CFITSIO, or no ../shared/interferometry";
    observation_ = read_uvfits(*file);
    arrays_ = test::read_npz(*golden);
    summary_ = test::golden_summary().at(GetParam());
  }

  /// ehtim averages in float32: 1e-6 relative is ten of its last digits.
  void expect_rows(const Observation& ours, const std::string& group) {
    const auto theirs = test::observation_in(arrays_, group);
    ASSERT_EQ(ours.visibilities.size(), theirs.visibilities.size());
    for (size_t i = 0; i < ours.visibilities.size(); ++i) {
      const auto &a = ours.visibilities[i], &b = theirs.visibilities[i];
      EXPECT_EQ(a.first, b.first);
      EXPECT_EQ(a.second, b.second);
      EXPECT_NEAR(a.time, b.time, 1e-12 * 24);
      EXPECT_NEAR(a.u, b.u, 1e-12 * 1e10);
      EXPECT_NEAR(a.v, b.v, 1e-12 * 1e10);
      EXPECT_NEAR(a.sd, b.sd, 1e-6 * b.sd);
      EXPECT_LT(std::abs(a.value - b.value), 1e-6 * std::max(std::abs(b.value), b.sd));
    }
  }

  Observation observation_;
  test::Arrays arrays_;
  nlohmann::json summary_;
};

TEST_P(AveragingGolden, ScansAndBothConfigurations) {
  const auto& margins = arrays_.at("scans/start_stop_h");
  const auto scans = scan_table(observation_, 59.4);
  ASSERT_EQ(static_cast<int64_t>(scans.size()), margins.size(0));
  for (int64_t i = 0; i < margins.size(0); ++i) {
    EXPECT_NEAR(scans[i].first, margins[i][0].item<double>() + 1e-4, 1e-9);
    EXPECT_NEAR(scans[i].second, margins[i][1].item<double>() - 1e-4, 1e-9);
  }
  Preparation a{.scan_time = ScanTime::ehtim, .min_baseline = 0, .systematic_noise = 0.01, .min_snr = 0};
  expect_rows(prepare(observation_, a, "A"), "A/vis/");
  a.systematic_noise = 0;
  expect_rows(prepare(observation_, a, "scanavg"), "scanavg/");
  Preparation b;
  b.scan_time = ScanTime::ehtim;
  expect_rows(prepare(observation_, b, "B"), "B/vis/");
}

TEST_P(AveragingGolden, HarmonisedTimesKeepEveryClosure) {
  const Preparation only_average{.min_baseline = 0, .systematic_noise = 0, .min_snr = 0};
  const auto closures =
      form_closures(prepare(observation_, only_average, "x"), {.rule = ClosureRule::ehtim_min, .debias = false});
  const auto& counts = summary_.at("counts_scanavg_harmonised_times");
  EXPECT_EQ(closures.phases.size(), counts.at("cp_min").get<size_t>());
  EXPECT_EQ(closures.amplitudes.size(), counts.at("lca_min").get<size_t>());
}

INSTANTIATE_TEST_SUITE_P(M87, AveragingGolden, testing::ValuesIn(test::golden_observations()));

}  // namespace
}  // namespace penumbra::vlbi
