/// penumbra calibrate, as a user would call it: verdicts, files, going on after an interrupt, and wrong settings.
#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "io/npy.h"
#include "support/message.h"
#include "support/paths.h"
#include "support/program.h"

namespace penumbra::test {
namespace {

namespace fs = std::filesystem;

constexpr const char* problem = R"(
prior: {kind: gaussian, image_shape: [1, 3, 4], variance: 1}
likelihood: {kind: gaussian, ratio: 0.5, noise_sd: 0.5}
sampler: {kind: pmc-red, sigma: 0, step_size: 0.01, steps: 400, start: {kind: prior}}
chains: 19
seed: 4
)";

fs::path written(const std::string& text) {
  const auto file = scratch() / "config.yaml";
  write_text(file, text);
  return file;
}

std::vector<std::string> calibrate(const fs::path& config, const std::string& out, std::vector<std::string> more = {}) {
  std::vector<std::string> args{
      "calibrate", config.string(), "--out", (config.parent_path() / out).string(), "--device", "cpu"};
  args.insert(args.end(), more.begin(), more.end());
  return args;
}

nlohmann::json findings(const fs::path& folder) {
  auto found = nlohmann::json::parse(read_text(folder / "calibration.json"));
  found.erase("seconds");
  return found;
}

TEST(Calibrate, ACalibratedSamplerIsSaidToBe) {
  const auto config = written(problem);
  const auto result = penumbra(calibrate(config, "out", {"--simulations", "200", "--require-calibrated"}));
  ASSERT_EQ(result.code, 0) << result.err << result.out;
  EXPECT_TRUE(contains(result.out, "Calibrated, as far as 200 simulations show")) << result.out;
  const auto folder = config.parent_path() / "out";
  const auto found = findings(folder);
  EXPECT_EQ(found["verdict"]["word"].get<std::string>(), "calibrated");
  EXPECT_EQ(found["simulations"].get<int>(), 200);
  EXPECT_EQ(found["draws"].get<int>(), 19);
  EXPECT_EQ(found["seed"].get<int>(), 4);
  EXPECT_EQ(found["statistics"].size(), 100U);
  // A header and a row for each statistic of each simulation.
  const auto csv = read_text(folder / "ranks.csv");
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + 200 * 100);
  EXPECT_TRUE(contains(csv, "simulation,statistic,rank,draws,place,truth,mean,sd\n0,pixel_0_0,"));
  EXPECT_TRUE(contains(read_text(folder / "config.yaml"), "simulations: 200"));
  const auto html = read_text(folder / "report.html");
  for (const auto* part : {"Coverage", "TARP", "log likelihood", "Criterion"})
    EXPECT_TRUE(contains(html, part)) << part;
}

/// Steps that are too long widen the draws: gamma L = 1.5 multiplies the variance by 4.
TEST(Calibrate, AWrongSamplerIsAFindingAndAnErrorOnlyWhereAskedFor) {
  const auto config = written(problem);
  const std::vector<std::string> wrong{
      "--simulations",         "100",   "--set",           "likelihood.noise_sd=2", "--set",
      "sampler.step_size=1.2", "--set", "sampler.steps=40"};
  const auto result = penumbra(calibrate(config, "out", wrong));
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(contains(result.out, "Not calibrated, under-confident")) << result.out;
  auto strict = wrong;
  strict.push_back("--require-calibrated");
  strict.push_back("--json");
  const auto again = penumbra(calibrate(config, "out", strict));
  EXPECT_EQ(again.code, 1);
  EXPECT_EQ(nlohmann::json::parse(again.out)["verdict"]["word"].get<std::string>(), "under-confident");
}

TEST(Calibrate, NeitherDataNorTheirAbsenceMatter) {
  const auto without = written(problem);
  auto text = std::string(problem);
  text.replace(text.find("noise_sd: 0.5"), 13, "noise_sd: 0.5, data: not_there.npy");
  const auto with = written(text);
  for (const auto& config : {without, with})
    ASSERT_EQ(penumbra(calibrate(config, "out", {"--simulations", "4"})).code, 0);
  EXPECT_EQ(read_text(without.parent_path() / "out" / "ranks.csv"),
            read_text(with.parent_path() / "out" / "ranks.csv"));
}

/// Defaults are derived as for `sample`, which in turn takes no notice of the section.
TEST(Calibrate, AConfigurationServesSampleAsWell) {
  const auto config = small_problem();
  write_text(config, read_text(config) + "calibrate: {simulations: 4, pixels: 3, projections: 0}\n");
  const auto result = penumbra(calibrate(config, "out"));
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(findings(config.parent_path() / "out")["statistics"].size(), 5U);
  EXPECT_TRUE(contains(result.out, "Undecided")) << result.out;
  EXPECT_EQ(penumbra({"sample", config.string(), "--out", (config.parent_path() / "run").string()}).code, 0);
}

/// No exact draws of the prior: truths by the probability-flow equation.
TEST(Calibrate, APriorThatIsOnlyKnownByItsScoreIsGeneratedFrom) {
  const auto config = written(R"(
prior: {kind: magnitude, prior: {kind: gaussian, image_shape: [1, 3, 4], mean: 3, variance: 0.25}}
likelihood: {kind: gaussian, ratio: 0.5, noise_sd: 0.5, clip_gradient: 1e6}
sampler: {kind: pmc-red, sigma: 0.3, step_size: 0.01, steps: 50}
chains: 12
calibrate: {simulations: 5, batch: 2, draws_per_chain: 2, projections: 3, pixels: 2}
)");
  const auto result = penumbra(calibrate(config, "out"));
  ASSERT_EQ(result.code, 0) << result.err;
  const auto folder = config.parent_path() / "out";
  const auto found = findings(folder);
  EXPECT_EQ(found["draws"].get<int>(), 24);
  EXPECT_EQ(found["statistics"].size(), 7U);
  EXPECT_TRUE(contains(read_text(folder / "report.html"), "probability-flow equation in 32 steps"));
  // Complex images of magnitude 3, 60 pixels of SD 0.5.
  const auto truths = io::read_npy(folder / "truths.npy").to(at::kDouble);
  EXPECT_EQ(truths.sizes(), (std::vector<int64_t>{5, 2, 3, 4}));
  EXPECT_NEAR(truths.square().sum(1).sqrt().mean().item<double>(), 3, 0.4);
}

TEST(Calibrate, WithoutDataTheSamplerOfThePriorIsOnTrial) {
  const auto config = written(R"(
prior: {kind: gaussian, image_shape: [1, 2, 2], variance: 1}
likelihood: {kind: none}
sampler: {kind: pmc-red, sigma: 0, step_size: 0.02, steps: 300}
chains: 19
)");
  const auto result = penumbra(calibrate(config, "out", {"--simulations", "100"}));
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(contains(result.out, "Calibrated")) << result.out;
  const auto refused = penumbra(calibrate(config, "other", {"--set", "calibrate.log_likelihood=true"}));
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(contains(refused.err, "calibrate.log_likelihood: expected false")) << refused.err;
}

TEST(Calibrate, AnInterruptedCalibrationGoesOnToTheSameResult) {
  const auto config = written(problem);
  const std::vector<std::string> few{"--simulations",     "20",    "--set",
                                     "calibrate.batch=2", "--set", "sampler.steps=3000"};
  const auto reference = config.parent_path() / "reference", out = config.parent_path() / "out";
  ASSERT_EQ(penumbra(calibrate(config, "reference", few)).code, 0);
  const auto pid = start(calibrate(config, "out", few));
  for (int wait = 0; wait < 60'000 && !fs::exists(out / "kept" / "000002.json"); ++wait) usleep(500);
  kill(pid, SIGINT);
  ASSERT_EQ(wait_for(pid), 130);
  ASSERT_FALSE(fs::exists(out / "calibration.json"));
  // A second one is killed outright.
  const auto second = start(calibrate(config, "out", few));
  for (int wait = 0; wait < 60'000 && !fs::exists(out / "kept" / "000008.json"); ++wait) usleep(500);
  kill(second, SIGKILL);
  ASSERT_EQ(wait_for(second), -SIGKILL);
  const auto kept = fs::last_write_time(out / "kept" / "000000.json");
  ASSERT_EQ(penumbra(calibrate(config, "out", few)).code, 0);
  EXPECT_EQ(fs::last_write_time(out / "kept" / "000000.json"), kept);
  EXPECT_EQ(read_text(out / "ranks.csv"), read_text(reference / "ranks.csv"));
  EXPECT_EQ(findings(out), findings(reference));
}

TEST(Calibrate, WhatIsWrongIsNamed) {
  const auto config = written(problem);
  const auto said = [&](const std::vector<std::string>& more, int code = 2) {
    const auto result = penumbra(calibrate(config, "bad", more));
    EXPECT_EQ(result.code, code) << result.out;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    return result.err;
  };
  const auto set = [&](const std::string& assignment) { return said({"--set", assignment}); };
  EXPECT_TRUE(contains(set("calibrate.simulations=1"), "calibrate.simulations: expected an integer in [2, 1000000]"));
  EXPECT_TRUE(contains(set("calibrate.pixels=13"), "calibrate.pixels: expected an integer in [0, 12]"));
  EXPECT_TRUE(contains(set("calibrate.simulation=50"), "calibrate.simulation"));
  EXPECT_TRUE(contains(set("calibrate=5"), "calibrate: expected a section"));
  EXPECT_TRUE(contains(set("calibrate.draws_per_chain=900"), "calibrate.draws_per_chain: expected an integer in [1, "));
  EXPECT_TRUE(contains(set("calibrate={pixels: 0, flux: false, projections: 0, log_likelihood: false}"),
                       "expected at least one of pixels, flux, projections and log_likelihood"));
  EXPECT_TRUE(contains(set("likelihood.noise_sd=-1"), "likelihood.noise_sd: expected a number > 0"));
  EXPECT_TRUE(contains(set("sampler={kind: tv, steps: 4, lambda: 1}"), "expected a sampler with random draws"));
  EXPECT_TRUE(contains(said({"--simulations", "0"}), "--simulations"));
  EXPECT_TRUE(contains(said({"--set", "sampler.step_size=1e6"}, 3), "diverged"));
  // A folder holds one calibration.
  ASSERT_EQ(penumbra(calibrate(config, "good", {"--simulations", "3"})).code, 0);
  const auto other = penumbra(calibrate(config, "good", {"--simulations", "4"}));
  EXPECT_EQ(other.code, 2);
  EXPECT_TRUE(contains(other.err, "is a run of another configuration")) << other.err;
}

}  // namespace
}  // namespace penumbra::test
