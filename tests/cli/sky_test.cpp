/// Interferometers' files and images of the sky, as a user meets them: info and export.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "io/fits_reader.h"
#include "io/npy.h"
#include "io/sky_image.h"
#include "report/synthetic_run.h"
#include "support/message.h"
#include "support/observation_archive.h"
#include "support/paths.h"
#include "support/program.h"
#include "vlbi/example.h"
#include "vlbi/uvfits.h"

namespace penumbra::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class Sky : public testing::Test {
 protected:
  void SetUp() override {
    if (!io::reads_fits()) GTEST_SKIP() << "built without CFITSIO";
  }
};

TEST_F(Sky, InfoDescribesVisibilities) {
  const auto path = scratch() / "x.uvfits";
  vlbi::write_uvfits(path, vlbi::example_observation());
  const auto about = info(path);
  EXPECT_EQ(about["kind"].get<std::string>(), "visibilities (UVFITS)");
  EXPECT_EQ(about["source"].get<std::string>(), "M87");
  EXPECT_EQ(about["date"].get<std::string>(), "2017-04-06");
  EXPECT_EQ(about["visibilities"], 54);
  EXPECT_EQ(about["times"], 9);
  EXPECT_EQ(about["scans"], 3);
  EXPECT_EQ(about["baselines"], 6);
  EXPECT_EQ(about["stations"][0], json({"AA", 27}));
  EXPECT_TRUE(about["short_baseline_flux_jy"].is_null());
  // Four stations that all see one another: 3 independent phases and 2 amplitudes a scan.
  EXPECT_EQ(about["prepared"]["visibilities"], 18);
  EXPECT_EQ(about["prepared"]["closure_phases"], 9);
  EXPECT_EQ(about["prepared"]["closure_amplitudes"], 6);
}

TEST_F(Sky, InfoSaysWhereOnlyShortBaselinesAreLeft) {
  auto observation = vlbi::example_observation();
  for (auto& row : observation.visibilities) row.u = row.v = 1e6;
  const auto path = scratch() / "x.uvfits";
  vlbi::write_uvfits(path, observation);
  const auto about = info(path);
  EXPECT_TRUE(about["short_baseline_flux_jy"].is_number());
  EXPECT_TRUE(contains(about["prepared"]["unusable"].get<std::string>(), "min_baseline 1e+08"));
}

TEST_F(Sky, InfoShowsNoDirectionThatIsNone) {
  auto observation = vlbi::example_observation();
  observation.right_ascension *= 15;  // degrees, as if they were hours
  observation.declination = 100;
  const auto path = scratch() / "x.uvfits";
  vlbi::write_uvfits(path, observation);
  const auto about = info(path);
  EXPECT_FALSE(about.contains("right_ascension_hours"));
  EXPECT_FALSE(about.contains("declination_degrees"));
  EXPECT_EQ(about["right_ascension"].get<std::string>(),
            "unknown: expected 0 to 360 degrees in the header, found 2815.588961");
  EXPECT_EQ(about["declination"].get<std::string>(), "unknown: expected -90 to 90 degrees in the header, found 100");
  vlbi::write_uvfits(path, vlbi::example_observation());
  EXPECT_NEAR(info(path)["right_ascension_hours"].get<double>(), 12.513728717168174, 1e-12);
}

TEST_F(Sky, InfoRefusesABrokenFile) {
  const auto path = scratch() / "x.uvfits";
  write_text(path, vlbi::format_uvfits(vlbi::example_observation(), "x").substr(0, 9000));
  const auto result = penumbra({"info", path.string()});
  EXPECT_EQ(result.code, 2);
  EXPECT_TRUE(contains(result.err, "x.uvfits: part 1: expected")) << result.err;
}

TEST_F(Sky, ExportWritesFits) {
  const auto run = write_synthetic_run({.shape = {1, 12, 16}, .chains = 4}), out = scratch() / "out";
  const auto call = [&](const std::vector<std::string>& more) {
    std::vector<std::string> args{"export", run.string(), "--out", out.string(), "--format", "fits"};
    args.insert(args.end(), more.begin(), more.end());
    return penumbra(args);
  };
  EXPECT_TRUE(contains(call({}).err, "--format fits: expected --fov"));
  const auto data = scratch() / "x.uvfits";
  vlbi::write_uvfits(data, vlbi::example_observation());
  ASSERT_EQ(call({"--fov", "160", "--jy-per-unit", "0.5", "--source", data.string()}).code, 0);
  const auto mean = io::read_sky_image(out / "mean.fits");
  EXPECT_TRUE(mean.pixels.equal(io::read_npy(run / "mean.npy")[0].to(at::kDouble) * 0.5));
  EXPECT_EQ(mean.unit, "JY/PIXEL");
  EXPECT_EQ(mean.source, "M87");
  EXPECT_EQ(mean.frequency, 227070703125);
  const auto about = info(out / "mean.fits");
  EXPECT_EQ(about["kind"].get<std::string>(), "image of the sky");
  EXPECT_NEAR(about["fov_uas"].get<double>(), 160, 1e-9);
  EXPECT_EQ(about["shape"], json({12, 16}));
  EXPECT_FALSE(about.contains("images"));
}

TEST_F(Sky, InfoCountsTheImagesThatExportWrites) {
  const auto run = write_synthetic_run({.shape = {1, 12, 16}, .chains = 4}), out = scratch() / "out";
  ASSERT_EQ(penumbra({"export", run.string(), "--out", out.string(), "--format", "fits", "--fov", "160"}).code, 0);
  for (const std::string name : {"samples", "quantiles"}) {
    const auto images = io::read_npy(run / (name + ".npy")).to(at::kDouble);
    const auto about = info(out / (name + ".fits"));
    EXPECT_EQ(about["kind"].get<std::string>(), "images of the sky");
    EXPECT_EQ(about["images"], images.size(0));
    EXPECT_EQ(about["shape"], json({12, 16}));
    const auto sums = images.sum({1, 2, 3});
    EXPECT_NEAR(about["smallest_sum"].get<double>(), sums.min().item<double>(), 1e-9);
    EXPECT_NEAR(about["largest_sum"].get<double>(), sums.max().item<double>(), 1e-9);
  }
}

io::SkyImage crescent() {
  io::SkyImage image;
  const auto axis = at::arange(16, at::kDouble) - 7.5;
  const auto y = axis.unsqueeze(1), x = axis.unsqueeze(0);
  image.pixels = (-((x * x + y * y).sqrt() - 4).square()).exp() * (1 + 0.1 * x);
  image.pixels = image.pixels * (0.6 / image.pixels.sum());
  image.pixel_radians = 8 * io::radians_per_microarcsecond;
  image.unit = "JY/PIXEL";
  return image;
}

TEST_F(Sky, ObserveWritesWhatSampleReads) {
  const auto folder = scratch();
  io::write_fits_image(folder / "truth.fits", crescent());
  write_text(folder / "config.yaml", R"(
seed: 3
prior: {kind: random_field, side: 16}
likelihood: {kind: interferometry, data: {file: y.uvfits, systematic_noise: 0, min_snr: 2}, fov: 128, jy_per_unit: 0.01}
observation: {array: EHT2017, source: M87, start: 2, stop: 6, interval: 1800, gain_sd: 0.1, station_phases: random}
sampler: {kind: pmc-red, sigma: 0.1, step_size: 1e-9, steps: 4}
chains: 2
)");
  const auto config = (folder / "config.yaml").string(), out = (folder / "y.uvfits").string();
  const auto made = penumbra({"observe", config, "--truth", (folder / "truth.fits").string(), "--out", out});
  ASSERT_EQ(made.code, 0) << made.err;
  const auto observation = vlbi::read_uvfits(out);
  EXPECT_EQ(observation.source, "M87");
  EXPECT_EQ(observation.stations.size(), 8U);
  EXPECT_GT(observation.visibilities.size(), 50U);
  const auto sampled = penumbra({"sample", config, "--out", (folder / "run").string()});
  EXPECT_EQ(sampled.code, 0) << sampled.err;
  // The truth in the run's unit and pixels, whatever its own: as it is, in quarters of its pixels, and in the unit of
  // x.
  const auto mse = [&](const std::string& name) {
    const auto result =
        penumbra({"evaluate", (folder / "run").string(), "--truth", (folder / name).string(), "--json"});
    EXPECT_EQ(result.code, 0) << result.err;
    return json::parse(result.out)["mse"].get<double>();
  };
  auto fine = crescent();
  fine.pixels = fine.pixels.repeat_interleave(2, 0).repeat_interleave(2, 1) / 4;
  fine.pixel_radians /= 2;
  io::write_fits_image(folder / "fine.fits", fine);
  io::write_npy(folder / "truth.npy", crescent().pixels / 0.01);
  const double expected = mse("truth.npy");
  EXPECT_NEAR(mse("truth.fits"), expected, 1e-6 * expected);
  EXPECT_NEAR(mse("fine.fits"), expected, 1e-6 * expected);
  EXPECT_TRUE(contains(read_text(folder / "run" / "visibilities.csv"), "samples_mean_jy"));
  EXPECT_TRUE(contains(read_text(folder / "run" / "report.html"), "id=\"the-data\""));
  // What the run knows of the sky is not asked for again.
  const auto exported =
      penumbra({"export", (folder / "run").string(), "--out", (folder / "fits").string(), "--format", "fits"});
  ASSERT_EQ(exported.code, 0) << exported.err;
  const auto mean = io::read_sky_image(folder / "fits" / "mean.fits");
  EXPECT_EQ(mean.unit, "JY/PIXEL");
  EXPECT_EQ(mean.source, "M87");
  EXPECT_NEAR(mean.pixel_radians / (8 * io::radians_per_microarcsecond), 1, 1e-9);
  EXPECT_TRUE(mean.pixels.allclose(0.01 * io::read_npy(folder / "run" / "mean.npy")[0].to(at::kDouble)));
  // The same stations and times for another image, without noise.
  const auto again = (folder / "again.uvfits").string();
  write_text(folder / "like.yaml", "observation: {like: y.uvfits, thermal_noise: false}");
  ASSERT_EQ(penumbra({"observe", (folder / "like.yaml").string(), "--truth", (folder / "truth.fits").string(), "--out",
                      again})
                .code,
            0);
  const auto clean = vlbi::read_uvfits(again);
  ASSERT_EQ(clean.visibilities.size(), observation.visibilities.size());
  EXPECT_EQ(clean.visibilities[5].u, observation.visibilities[5].u);
  // What is read is not written over; what was made before is.
  for (const auto* input : {"y.uvfits", "truth.fits"}) {
    const auto before = read_text(folder / input);
    const auto refused = penumbra({"observe", (folder / "like.yaml").string(), "--truth",
                                   (folder / "truth.fits").string(), "--out", (folder / input).string()});
    EXPECT_EQ(refused.code, 2);
    EXPECT_TRUE(contains(refused.err, "expected another file than those that are read")) << refused.err;
    EXPECT_EQ(read_text(folder / input), before);
  }
}

/// Names are somebody's: what would break a table or JSON must not cost a finished run its results.
TEST_F(Sky, OddNamesOfStationsAndTheShortFormOfData) {
  const auto folder = scratch();
  auto observation = vlbi::example_observation();
  observation.stations[1].name = "A,\"Z";
  observation.source = "Mu87";
  vlbi::write_uvfits(folder / "y.uvfits", observation);
  // Our writer has ASCII alone, others' do not.
  auto bytes = read_text(folder / "y.uvfits");
  bytes.replace(bytes.find("Mu87"), 4,
                "M\xfc"
                "87");
  write_text(folder / "y.uvfits", bytes);
  write_text(folder / "config.yaml", R"(
prior: {kind: random_field, side: 16}
likelihood: {kind: interferometry, data: y.uvfits, fov: 128, jy_per_unit: 0.01, terms: {amplitude: 1}}
sampler: {kind: pmc-red, sigma: 0.1, step_size: 1e-9, steps: 4}
chains: 2
)");
  const auto run = (folder / "run").string();
  const auto sampled = penumbra({"sample", (folder / "config.yaml").string(), "--out", run});
  ASSERT_EQ(sampled.code, 0) << sampled.err;
  EXPECT_TRUE(contains(read_text(folder / "run" / "visibilities.csv"), ",AA,\"A,\"\"Z\","));
  const auto data = json::parse(read_text(folder / "run" / "summary.json"))["data"];
  EXPECT_EQ(data["source"], "M?87");
  EXPECT_EQ(data["stations"], json({"A,\"Z", "AA", "LM", "PV"}));
  EXPECT_EQ(penumbra({"report", run}).code, 0);
  const auto exported = penumbra({"export", run, "--out", (folder / "fits").string(), "--format", "fits"});
  ASSERT_EQ(exported.code, 0) << exported.err;
  const auto mean = io::read_sky_image(folder / "fits" / "mean.fits");
  EXPECT_EQ(mean.source, "M?87");
  EXPECT_NEAR(mean.declination.value(), observation.declination, 1e-9);
}

TEST_F(Sky, SampleRefusesWhereOnlyShortBaselinesAreLeft) {
  const auto folder = scratch();
  auto observation = vlbi::example_observation();
  for (auto& row : observation.visibilities) row.u = row.v = 1e6;
  vlbi::write_uvfits(folder / "y.uvfits", observation);
  write_text(folder / "config.yaml", R"(
prior: {kind: random_field, side: 16}
likelihood: {kind: interferometry, data: y.uvfits, fov: 128, jy_per_unit: 0.01, terms: {closure_phase: 1}}
sampler: {kind: pmc-red, sigma: 0.1, step_size: 1e-9, steps: 4}
)");
  const auto result = penumbra({"sample", (folder / "config.yaml").string(), "--out", (folder / "run").string()});
  EXPECT_EQ(result.code, 2);
  EXPECT_TRUE(contains(result.err, "y.uvfits")) << result.err;
  EXPECT_TRUE(contains(result.err, "min_baseline 1e+08")) << result.err;
  EXPECT_FALSE(fs::exists(folder / "run"));
}

/// With other data and few steps: the file is for those who have the EHT's.
TEST_F(Sky, TheExampleOfM87IsAConfiguration) {
  const auto folder = scratch();
  vlbi::write_uvfits(folder / "y.uvfits", vlbi::example_observation());
  const auto result = penumbra({"sample", shipped_example("m87.yaml").string(), "--out", (folder / "run").string(),
                                "--set", "likelihood.data.file=" + (folder / "y.uvfits").string(), "--set",
                                "sampler.steps=2", "--set", "chains=2"});
  ASSERT_EQ(result.code, 0) << result.err;
  const auto summary = json::parse(read_text(folder / "run" / "summary.json"));
  EXPECT_EQ(summary["data"]["source"], "M87");
  EXPECT_TRUE(fs::exists(folder / "run" / "modes.json"));
}

/// A fifth of the rows has an infinite SD, which in the file is a weight of 0.
TEST_F(Sky, SampleCountsWhatItLeavesOut) {
  const auto folder = scratch();
  auto observation = vlbi::example_observation();
  size_t weightless = 0;
  for (size_t i = 0; i < observation.visibilities.size(); i += 5, ++weightless)
    observation.visibilities[i].sd = std::numeric_limits<double>::infinity();
  vlbi::write_uvfits(folder / "y.uvfits", observation);
  EXPECT_EQ(info(folder / "y.uvfits")["weightless"], weightless);
  write_text(folder / "config.yaml", R"(
prior: {kind: random_field, side: 16}
likelihood:
  kind: interferometry
  data: {file: y.uvfits, average: none, min_snr: 0}
  fov: 128
  terms: {amplitude: 1}
  clip_gradient: 1e6
sampler: {kind: pmc-red, sigma: 0.1, step_size: 1e-9, steps: 4}
chains: 2
)");
  const auto config = (folder / "config.yaml").string();
  const auto sample = [&](const std::string& flags, const std::string& run) {
    const auto result =
        penumbra({"sample", config, "--set", "likelihood.data.flag." + flags, "--out", (folder / run).string()});
    EXPECT_EQ(result.code, 0) << result.err;
    return std::pair(result.out, json::parse(read_text(folder / run / "summary.json")));
  };
  const auto [said, summary] = sample("stations=[LM]", "run");
  const auto left = vlbi::read_uvfits(folder / "y.uvfits").visibilities;
  const auto of_lm = std::count_if(left.begin(), left.end(),
                                   [](const vlbi::Visibility& row) { return row.first == 2 || row.second == 2; });
  const auto rest = static_cast<ptrdiff_t>(left.size()) - of_lm;
  // The clipped gradient hides nothing of the data.
  EXPECT_EQ(summary["data"], json({{"visibilities", left.size()},
                                   {"dropped", weightless},
                                   {"weightless", weightless},
                                   {"malformed", 0},
                                   {"flagged", of_lm},
                                   {"averages", rest},
                                   {"below_min_baseline", 0},
                                   {"above_max_baseline", 0},
                                   {"below_min_snr", 0},
                                   {"prepared", rest},
                                   {"source", "M87"},
                                   {"date", "2017-04-06"},
                                   {"stations", {"AA", "AZ", "PV"}}}));
  EXPECT_TRUE(fs::exists(folder / "run" / "visibilities.csv"));
  const auto note = fmt::format("y.uvfits: {} of 54 visibilities (20 %) were dropped: no hand", weightless);
  EXPECT_TRUE(contains(said, note)) << said;
  EXPECT_TRUE(contains(read_text(folder / "run" / "report.html"), note));
  // A list of lists on the command line; the flagged hour is the file's first scan.
  const auto [_, by_hour] = sample("hours=[[2, 2.1]]", "hours");
  const auto first_scan =
      std::count_if(left.begin(), left.end(), [](const vlbi::Visibility& row) { return row.time <= 2.1; });
  EXPECT_EQ(by_hour["data"]["flagged"], first_scan);
}

TEST_F(Sky, ObserveSaysWhatIsWrong) {
  const auto folder = scratch();
  io::write_npy(folder / "truth.npy", crescent().pixels);
  const auto refusal = [&](const std::string& section) {
    write_text(folder / "c.yaml", "observation: " + section);
    const auto result = penumbra({"observe", (folder / "c.yaml").string(), "--truth", (folder / "truth.npy").string(),
                                  "--out", (folder / "y.uvfits").string()});
    EXPECT_EQ(result.code, 2);
    return result.err;
  };
  EXPECT_TRUE(contains(refusal("{array: EHT2017}"), "observation.fov"));
  EXPECT_TRUE(contains(refusal("{fov: 128, array: EHT2071}"), "did you mean EHT2017?"));
  EXPECT_TRUE(contains(refusal("{fov: 128, source: M78}"), "did you mean M87?"));
  EXPECT_TRUE(contains(refusal("{fov: 128, date: 2017-02-30}"), "expected a day such as 2017-04-06"));
  EXPECT_TRUE(contains(refusal("{fov: 128, gain: 1}"), "gain"));
  EXPECT_FALSE(fs::exists(folder / "y.uvfits"));
}

TEST(SkyArray, InfoDescribesAnArrayOfStations) {
  const auto path = scratch() / "array.txt";
  write_text(path,
             "#NAME X Y Z SEFDR SEFDL\n\nPV 5088967.9 -301681.6 +3825015.8 1400 # Spain\nSMA -5 -2 2 5600 6500\n");
  const auto about = info(path);
  EXPECT_EQ(about["kind"].get<std::string>(), "array of stations");
  EXPECT_EQ(about["count"], 2);
  EXPECT_EQ(about["stations"][0],
            json({{"name", "PV"}, {"position_metres", {5088967.9, -301681.6, 3825015.8}}, {"sefd_jy", {1400, 1400}}}));
  EXPECT_EQ(about["stations"][1]["sefd_jy"], json({5600, 6500}));
  write_text(path, "PV 1 2 3 1400\nSMA 1 2\n");
  EXPECT_TRUE(contains(penumbra({"info", path.string()}).err, "array.txt:2: expected a name, x, y, z in metres"));
  write_text(path, "some other text of more than five words\n");
  EXPECT_TRUE(contains(penumbra({"info", path.string()}).err, "or an array of stations"));
}

TEST(SkyArchive, InfoDescribesItsVisibilities) {
  const auto path = scratch() / "x.npz";
  const auto columns = columns_of(vlbi::example_observation());
  write_npz(path, columns);
  const auto about = info(path);
  EXPECT_EQ(about["kind"].get<std::string>(), "visibilities (NPZ)");
  EXPECT_EQ(about["visibilities"], 54);
  EXPECT_EQ(about["times"], 9);
  EXPECT_EQ(about["baselines"], 6);
  EXPECT_EQ(about["stations"][0], json({"0", 27}));
  // Nine times of four stations that all see one another.
  EXPECT_EQ(about["closure_phases"], 27);
  EXPECT_EQ(about["closure_amplitudes"], 18);
  write_npz(path, columns, "B/vis/");
  EXPECT_EQ(info(path)["groups"]["B/vis"]["visibilities"], 54);
}

TEST(SkyArchive, InfoSaysWhatIsMissing) {
  const auto path = scratch() / "x.npz";
  auto columns = columns_of(vlbi::example_observation());
  columns.erase(columns.begin());
  write_npz(path, columns);
  EXPECT_TRUE(contains(penumbra({"info", path.string()}).err, "time.npy: the archive has no such entry"));
  write_npz(path, {});
  EXPECT_TRUE(contains(penumbra({"info", path.string()}).err, "x.npz: expected visibilities, arrays time, i1, i2"));
}

TEST(SkyWithoutCfitsio, IsRefusedWithTheReason) {
  if (io::reads_fits()) GTEST_SKIP() << "built with CFITSIO";
  const auto path = scratch() / "x.uvfits";
  write_text(path, "SIMPLE  =                    T");
  const auto result = penumbra({"info", path.string()});
  EXPECT_EQ(result.code, 2);
  EXPECT_TRUE(contains(result.err, "built without CFITSIO")) << result.err;
}

}  // namespace
}  // namespace penumbra::test
