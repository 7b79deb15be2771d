#include "report/run_report.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <regex>

#include "core/error.h"
#include "io/file.h"
#include "io/npy.h"
#include "report/synthetic_run.h"
#include "support/message.h"

namespace penumbra::report {
namespace {

using test::contains;
using test::SyntheticRun;
using test::write_synthetic_run;

std::string report_of(const std::filesystem::path& run) {
  write_run_report(run);
  return io::read_file(run / "report.html");
}

std::string report_with(const std::filesystem::path& run, const std::string& file, const std::string& content) {
  io::write_file(run / file, content);
  return report_of(run);
}

void expect_input_error_about(const std::filesystem::path& run, const std::string& file) {
  try {
    write_run_report(run);
    FAIL() << "no error about " << file;
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find(file), std::string::npos) << error.what();
  }
}

TEST(RunReport, ShowsWhatTheDataDecidedOrWhyItDoesNotKnow) {
  const auto run = write_synthetic_run();
  EXPECT_FALSE(contains(report_of(run), "What the data decided")) << "of a run from before there was such a map";
  auto summary = test::synthetic_summary();
  summary["data_share"] = {{"known", false}, {"why_not", "the prior is <silent>"}};
  EXPECT_TRUE(contains(report_with(run, "summary.json", summary.dump()), "No map: the prior is &lt;silent&gt;."));
  summary["data_share"] = {
      {"known", true}, {"prior_sd_from", "7 draws"}, {"median", 0.583}, {"wider_than_prior", 0.021}};
  io::write_npy(run / "data_share.npy", at::full({1, 48, 48}, 0.5));
  const auto page = report_with(run, "summary.json", summary.dump());
  for (const auto* part : {">What the data decided<", "Half of the pixels are above 58 %", "from: 7 draws",
                           "2.1 % of them have an SD above the prior", ">What they left open<"})
    EXPECT_TRUE(contains(page, part)) << part;
  io::write_npy(run / "data_share.npy", at::full({1, 3, 48}, 0.5));
  expect_input_error_about(run, "data_share.npy");
}

TEST(RunReport, ShowsTheExtrapolatedMoments) {
  const auto run = write_synthetic_run();
  auto summary = test::synthetic_summary();
  summary["extrapolation"] = {{"sd_factor", 0.91}, {"mean_change_in_sd", 0.04}, {"mean_error_in_sd", 0.02}};
  std::filesystem::create_directories(run / "extrapolated");
  for (const auto* name : {"mean.npy", "sd.npy"})
    io::write_npy(run / "extrapolated" / name, at::full({1, 48, 48}, 0.5));
  const auto page = report_with(run, "summary.json", summary.dump());
  for (const auto* part : {"the SD is 0.91 times", "moves by 0.04 SD, known to 0.02 SD", ">SD, extrapolated<"})
    EXPECT_TRUE(contains(page, part)) << part;
}

TEST(RunReport, ShowsTheSteinDiscrepancyAndTheStepsBias) {
  auto summary = test::synthetic_summary();
  summary["diagnostics"]["stein"] = {{"u_statistic", 3.52}, {"p", 0.00412}, {"threshold", 1.25}};
  summary["diagnostics"]["step"]["bias"] = {
      {"variance_excess", 0.08}, {"mean_shift_in_sd", 0.0312}, {"halving_step_size", 0.0123}};
  const auto page = report_with(write_synthetic_run(), "summary.json", summary.dump());
  for (const auto* part : {"squared 3.52, p 4.12e-3", "below 1.25", "variance times 1.08, mean shifted by SDs 0.0312",
                           "half of it at step size 0.0123"})
    EXPECT_TRUE(contains(page, part)) << part;
}

TEST(RunReport, HasEveryPartInItsOrder) {
  const auto page = report_of(write_synthetic_run());
  size_t at = 0;
  for (const auto* part : {"uncertainty can be read at face value",
                           ">Measurement<",
                           ">Posterior mean<",
                           ">Standard deviation<",
                           ">Truth<",
                           ">Error<",
                           ">Error beyond 3 SD<",
                           ">95 % interval, width<",
                           ">95 % interval, lower<",
                           ">95 % interval, upper<",
                           ">Row 24<",
                           ">Chain 0<",
                           ">Chain 11<",
                           ">Data misfit<",
                           ">Spread of the chains<",
                           ">Annealing<",
                           ">Largest value<",
                           "3 pixels have R-hat",
                           "R-hat (split)",
                           "PSNR, paper",
                           ">Calibration<",
                           "penumbra sample config.yaml",
                           "kind: gaussian_mixture",
                           "LibTorch 1.13.1"}) {
    const auto found = page.find(part, at);
    ASSERT_NE(found, std::string::npos) << part;
    at = found;
  }
  EXPECT_FALSE(contains(page, ">Chain 12<"));
}

TEST(RunReport, RefersToNothingOutsideItself) {
  const auto page = report_of(write_synthetic_run());
  const std::regex reference("(src|href|action|poster|data)=[\"']?([^\"' >]*)|url\\(|@import");
  for (std::sregex_iterator hit(page.begin(), page.end(), reference), end; hit != end; ++hit) {
    const auto target = (*hit)[2].str();
    EXPECT_TRUE(target.starts_with("#") || target.starts_with("data:image/png;base64,")) << hit->str().substr(0, 80);
  }
  EXPECT_FALSE(contains(page, "http://"));
  EXPECT_FALSE(contains(page, "https://"));
}

TEST(RunReport, IsTheSameBytesEachTime) {
  const auto run = write_synthetic_run();
  EXPECT_EQ(report_of(run), report_of(run));
}

TEST(RunReport, EscapesWhatFilesSay) {
  const std::string hostile = "</pre><script>alert('x')</script><img src=x onerror=alert(1)>";
  const auto run = write_synthetic_run({.config = "note: \"" + hostile + "\"\n"});
  auto summary = test::synthetic_summary();
  summary["verdict"] = summary["device"] = summary["problem"]["prior"] = hostile;
  summary["verdicts"] = {{{"level", hostile}, {"about", hostile}, {"text", hostile}}};
  summary["diagnostics"]["misfit"][0]["term"] = hostile;
  io::write_file(run / "metrics.json", nlohmann::json{{hostile, {{"value", 1}, {"convention", hostile}}}}.dump());
  io::write_file(run / "trace.csv", "iteration," + hostile + "\n1,2\n2,3\n");
  const auto page = report_with(run, "summary.json", summary.dump());
  EXPECT_FALSE(contains(page, "<script>alert"));
  EXPECT_FALSE(contains(page, "<img src=x"));
  EXPECT_TRUE(contains(page, "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;"));
}

TEST(RunReport, LeavesOutWhatIsNotThere) {
  const auto page = report_of(write_synthetic_run({.evaluated = false}));
  for (const auto* part : {">Truth<", ">Error<", ">Measurement<", "Against the truth", ">Calibration<"})
    EXPECT_FALSE(contains(page, part)) << part;
  EXPECT_TRUE(contains(page, ">Posterior mean<"));
}

TEST(RunReport, ToleratesAnEmptySummaryAndNulls) {
  const auto run = write_synthetic_run();
  io::write_file(run / "metrics.json",
                 R"({"mse": null, "calibration": {"nominal": [0.5, null], "empirical": [0.4, 0.6]}})");
  EXPECT_TRUE(contains(report_with(run, "summary.json", "{}"), "no verdict"));
  const auto odd = R"({"verdicts": [3, null], "diagnostics": null, "problem": 5, "timings": [], "program": null})";
  EXPECT_TRUE(contains(report_with(run, "summary.json", odd), ">Posterior mean<"));
}

TEST(RunReport, ShowsARunThatDiverged) {
  const auto run = write_synthetic_run();
  for (const auto* file : {"mean.npy", "sd.npy", "samples.npy"})
    io::write_npy(run / file, at::full_like(io::read_npy(run / file), NAN));
  auto summary = test::synthetic_summary();
  summary["outcome"] = "diverged";
  summary["diverged_at"] = 300;
  const auto page = report_with(run, "summary.json", summary.dump());
  EXPECT_TRUE(contains(page, "diverged at iteration 300"));
  EXPECT_TRUE(contains(page, "not finite"));
}

TEST(RunReport, ShowsTheCourseOfARunWithoutAnAnswer) {
  const auto run = write_synthetic_run({.evaluated = false});
  for (const auto* file : {"mean.npy", "sd.npy", "samples.npy", "quantiles.npy"}) std::filesystem::remove(run / file);
  const auto page = report_with(run, "summary.json", R"({"outcome": "diverged", "diverged_at": 300})");
  EXPECT_TRUE(contains(page, ">Data misfit<"));
  EXPECT_FALSE(contains(page, "The answer"));
}

TEST(RunReport, SaysWhatWasNotMeasured) {
  const auto run = write_synthetic_run();
  auto observation = io::read_npy(run / "inputs" / "observation.npy");
  observation.slice(1, 0, 2).fill_(NAN);
  io::write_npy(run / "inputs" / "observation.npy", observation);
  EXPECT_TRUE(contains(report_of(run), "96 of 2304 pixels without a measurement"));
  io::write_npy(run / "inputs" / "observation.npy", at::complex(observation, observation));
  EXPECT_TRUE(contains(report_of(run), "log10"));
}

TEST(RunReport, ReadsMetricsWithConventionsInside) {
  const auto run = write_synthetic_run();
  const auto page = report_with(run, "metrics.json", R"({"psnr_paper": {"db": 27.25, "convention": "peak 1"},
      "nll": {"per_pixel": -1.375}, "calibration": [
      {"nominal": 0.5, "empirical": 0.45, "expected_for_this_many_draws": 0.47},
      {"nominal": 0.9, "empirical": 0.8, "expected_for_this_many_draws": 0.84}]})");
  for (const auto* part : {"27.25", "-1.375", "Convention: peak 1.", ">Calibration<", ">ideal, so many draws<"})
    EXPECT_TRUE(contains(page, part)) << part;
}

TEST(RunReport, ShowsTwoPixelsAsAScatter) {
  const auto page = report_of(write_synthetic_run({.shape = {1, 1, 2}, .chains = 300}));
  EXPECT_TRUE(contains(page, ">second pixel<"));
  EXPECT_FALSE(contains(page, "<img"));
}

TEST(RunReport, ShowsOneNumberAsAHistogram) {
  EXPECT_TRUE(contains(report_of(write_synthetic_run({.shape = {1, 1, 1}, .chains = 300})), ">count<"));
}

TEST(RunReport, ShowsColourAndManyChannels) {
  for (const int64_t channels : {2, 3})
    EXPECT_TRUE(contains(report_of(write_synthetic_run({.shape = {channels, 16, 16}})), ">Row 8, channel 1<"));
}

class RunReportFile : public testing::TestWithParam<std::string> {};

TEST_P(RunReportFile, IsNamedWhenMissing) {
  const auto run = write_synthetic_run();
  std::filesystem::remove(run / GetParam());
  expect_input_error_about(run, GetParam());
  EXPECT_FALSE(std::filesystem::exists(run / "report.html"));
}

INSTANTIATE_TEST_SUITE_P(Required, RunReportFile,
                         testing::Values("config.yaml", "samples.npy", "mean.npy", "sd.npy", "quantiles.npy",
                                         "trace.csv", "summary.json"));

class RunReportCorrupt : public testing::TestWithParam<std::string> {};

TEST_P(RunReportCorrupt, IsNamed) {
  const auto run = write_synthetic_run();
  io::write_file(run / GetParam(), "a,b\n1,oops {");
  expect_input_error_about(run, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Corrupt, RunReportCorrupt,
                         testing::Values("samples.npy", "mean.npy", "truth.npy", "metrics.json", "trace.csv",
                                         "summary.json"));

TEST(RunReport, RefusesAMeanOfAnotherShape) {
  const auto run = write_synthetic_run();
  io::write_npy(run / "mean.npy", at::zeros({1, 5, 5}, at::kFloat));
  expect_input_error_about(run, "mean.npy");
}

}  // namespace
}  // namespace penumbra::report
