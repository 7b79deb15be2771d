/// Bad input: one clear line on stderr, exit 2, nothing half-written.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "io/npy.h"
#include "support/paths.h"
#include "support/program.h"

namespace penumbra::test {
namespace {

namespace fs = std::filesystem;

struct BadInput : testing::Test {
  fs::path config = small_problem();
  fs::path run = config.parent_path() / "run";

  void expect_refused(const std::vector<std::string>& args, const std::vector<std::string>& words) {
    const auto result = penumbra(args);
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    for (const auto& word : words) EXPECT_NE(result.err.find(word), std::string::npos) << word << " in: " << result.err;
  }
  void expect_setting_refused(const std::string& assignment, const std::vector<std::string>& words) {
    expect_refused({"sample", config.string(), "--out", run.string(), "--set", assignment}, words);
    EXPECT_FALSE(fs::exists(run));
  }
};

TEST_F(BadInput, UnknownKey) {
  expect_setting_refused("sampler.step_sise=1", {"sampler.step_sise", "did you mean step_size"});
}
TEST_F(BadInput, UnknownTopLevelKey) { expect_setting_refused("smpler=1", {"smpler", "unknown"}); }
TEST_F(BadInput, UnknownSampler) { expect_setting_refused("sampler.kind=hmc", {"sampler.kind", "apmc-pnp"}); }
TEST_F(BadInput, NegativeSigma) {
  expect_setting_refused("sampler.schedule.sigma_min=-1", {"sampler.schedule.sigma_min", "-1"});
}
TEST_F(BadInput, NegativeStep) { expect_setting_refused("sampler.step_size=-1e-3", {"sampler.step_size", "> 0"}); }
TEST_F(BadInput, NoSteps) { expect_setting_refused("sampler.steps=0", {"sampler.steps"}); }
TEST_F(BadInput, NumberThatIsNone) { expect_setting_refused("sampler.step_size=fast", {"sampler.step_size", "fast"}); }
TEST_F(BadInput, ZeroNoise) { expect_setting_refused("likelihood.noise_sd=0", {"likelihood.noise_sd"}); }
TEST_F(BadInput, NoChains) { expect_setting_refused("chains=0", {"chains"}); }
TEST_F(BadInput, MissingData) { expect_setting_refused("likelihood.data=gone.npy", {"likelihood.data", "gone.npy"}); }
TEST_F(BadInput, AnotherDevice) {
  expect_refused({"sample", config.string(), "--out", run.string(), "--device", "tpu"}, {"--device", "tpu"});
}

TEST_F(BadInput, UnknownKeyInWhatObserveAndScoreRead) {
  const auto truth = (config.parent_path() / "truth.npy").string(), out = (config.parent_path() / "o.npy").string();
  expect_refused({"observe", config.string(), "--truth", truth, "--out", out, "--set", "likelihood.mask_sed=9"},
                 {"mask_sed"});
  const auto prior = config.parent_path() / "prior.yaml";
  write_text(prior, "{kind: random_field, side: 12, amplitud: 3}");
  expect_refused({"score", "--prior", prior.string(), "--input", truth, "--sigma", "1", "--output", out}, {"amplitud"});
}

TEST_F(BadInput, GenerateWithOptionsThatDoNotGoTogether) {
  const auto prior = (config.parent_path() / "truth.yaml").string(), out = run.string();
  expect_refused({"generate", "--prior", prior, "--out", out, "--method", "langevin", "--churn", "3"},
                 {"--churn", "--method heun"});
  expect_refused({"generate", "--prior", prior, "--out", out, "--sigma-min", "90"}, {"--sigma-min", "80", "90"});
  EXPECT_FALSE(fs::exists(run));
}

TEST_F(BadInput, AStartOfAWrongSize) {
  io::write_npy(config.parent_path() / "start.npy", at::zeros({3, 1, 12, 12}, at::kDouble));
  expect_setting_refused("sampler.start={kind: file, file: start.npy}", {"start.npy", "3x1x12x12"});
}

TEST_F(BadInput, APathThatCannotBe) {
  expect_refused({"sample", config.string(), "--out", std::string(300, 'x')}, {"xxx"});
}

TEST_F(BadInput, AnnealedLangevinDoesNotIgnoreData) {
  expect_setting_refused("sampler={kind: annealed-langevin, steps: 10, sigma_0: 1, sigma_min: 0.1}", {"sampler.kind"});
}

TEST_F(BadInput, NoValue) {
  expect_setting_refused("chains=", {"--set chains=", "expected a value"});
  expect_setting_refused("chains= ", {"--set chains= ", "expected a value"});
}

TEST_F(BadInput, ASeedThatIsNone) {
  for (const auto* seed : {"-1", "9007199254740993", "x"})
    expect_refused({"sample", config.string(), "--out", run.string(), "--seed", seed},
                   {"--seed", seed, "0 to 9007199254740992"});
}

TEST_F(BadInput, UnknownCommand) {
  expect_refused({"sampel", config.string()}, {"unknown command sampel", "did you mean sample?"});
  expect_refused({"sample.yaml"}, {"unknown command sample.yaml"});
}

TEST_F(BadInput, AnUnwritableFileIsFoundBeforeTheWork) {
  const auto folder = config.parent_path();
  const auto truth = (folder / "truth.npy").string(), prior = (folder / "truth.yaml").string();
  const auto nowhere = (folder / "nowhere" / "x.npy").string();
  expect_refused({"observe", config.string(), "--truth", truth, "--out", nowhere}, {nowhere, "is no folder"});
  for (const auto* command : {"score", "denoise"}) {
    const auto apply = [&](const std::string& output) {
      return std::vector<std::string>{command, "--prior", prior, "--input", truth, "--sigma", "1", "--output", output};
    };
    expect_refused(apply(nowhere), {nowhere, "is no folder"});
    expect_refused(apply(folder.string()), {folder.string(), "expected the name of a file"});
  }
  fs::create_directory(folder / "folder.npy");
  expect_refused({"observe", config.string(), "--truth", truth, "--out", (folder / "folder.npy").string()},
                 {"folder.npy", "expected the name of a file"});
  EXPECT_FALSE(fs::exists(folder / "nowhere"));
}

TEST_F(BadInput, AMeasurementUnderAnotherFormatsName) {
  const auto folder = config.parent_path();
  const auto refused = [&](const fs::path& file, const std::string& name, const std::vector<std::string>& words) {
    expect_refused(
        {"observe", file.string(), "--truth", (folder / "truth.npy").string(), "--out", (folder / name).string()},
        words);
    EXPECT_FALSE(fs::exists(folder / name));
  };
  refused(config, "o.uvfits", {"o.uvfits", "section observation", ".npy"});
  refused(config, "o.txt", {"o.txt", "expected a file name that ends in .npy"});
  write_text(folder / "sky.yaml", "observation: {array: EHT2017, fov: 128}");
  refused(folder / "sky.yaml", "o.npy", {"o.npy", "expected a file name that ends in .uvfits"});
}

TEST_F(BadInput, MissingConfiguration) {
  expect_refused({"sample", "gone.yaml", "--out", run.string()}, {"gone.yaml"});
}

TEST_F(BadInput, MissingOption) { expect_refused({"sample", config.string()}, {"--out"}); }

TEST_F(BadInput, DataOfAWrongShape) {
  io::write_npy(config.parent_path() / "y.npy", at::zeros({5}, at::kDouble));
  expect_refused({"sample", config.string(), "--out", run.string()}, {"y.npy", "expected", "found 5"});
}

TEST_F(BadInput, NanInTheData) {
  auto y = io::read_npy(config.parent_path() / "y.npy");
  y[3] = std::numeric_limits<double>::quiet_NaN();
  io::write_npy(config.parent_path() / "y.npy", y);
  expect_refused({"sample", config.string(), "--out", run.string()}, {"y.npy", "finite"});
}

TEST_F(BadInput, TruncatedData) {
  const auto path = config.parent_path() / "y.npy";
  fs::resize_file(path, fs::file_size(path) - 3);
  expect_refused({"sample", config.string(), "--out", run.string()}, {"y.npy"});
}

TEST_F(BadInput, ARunOfAnotherConfiguration) {
  ASSERT_EQ(penumbra({"sample", config.string(), "--out", run.string()}).code, 0);
  expect_refused({"sample", config.string(), "--out", run.string(), "--resume", "--seed", "8"},
                 {"another configuration", "seed"});
  expect_refused({"sample", config.string(), "--out", run.string()}, {"already holds a run"});
}

TEST_F(BadInput, ATruthOfAWrongSize) {
  ASSERT_EQ(penumbra({"sample", config.string(), "--out", run.string()}).code, 0);
  const auto truth = config.parent_path() / "wrong.npy";
  io::write_npy(truth, at::zeros({5, 5}, at::kDouble));
  expect_refused({"evaluate", run.string(), "--truth", truth.string()}, {"wrong.npy", "12"});
}

TEST_F(BadInput, AFolderThatIsNoRun) { expect_refused({"report", scratch().string()}, {"config.yaml"}); }

TEST_F(BadInput, AnUnwritableFolderIsFoundBeforeTheWork) {
  write_text(config.parent_path() / "file", "");
  const auto result = penumbra({"sample", config.string(), "--out", (config.parent_path() / "file" / "run").string()});
  EXPECT_EQ(result.code, 2) << result.err;
  EXPECT_NE(result.err.find("file/run"), std::string::npos);
}

/// alpha_0 makes the annealed part stiffer than the settled one: the advice must speak of the whole schedule.
TEST(Divergence, WhileAnnealingAdvisesAStepThatPassesTheAnnealing) {
  const auto config = scratch() / "config.yaml";
  write_text(config, R"(
prior: {kind: gaussian, image_shape: [1, 2, 2], variance: 1}
likelihood: {kind: none}
sampler:
  kind: apmc-red
  steps: 200
  step_size: 0.4
  precision: float64
  divergence_limit: 1e6
  schedule: {sigma_0: 100, sigma_min: 0.1, xi: 0.98, alpha_0: 10}
chains: 8
)");
  const auto folder = config.parent_path();
  const auto result = penumbra({"sample", config.string(), "--out", (folder / "run").string()});
  ASSERT_EQ(result.code, 3) << result.err;
  const auto summary = nlohmann::json::parse(read_text(folder / "run" / "summary.json"));
  const double advice = summary["diagnostics"]["step"]["stability_limit_while_annealing"];
  EXPECT_LT(advice, 0.4);
  // Exact: 2 / max_k alpha_0 sigma_k^2 / (1 + sigma_k^2), close to 2 / alpha_0.
  EXPECT_NEAR(advice, 0.2, 0.002);
  const auto again = penumbra({"sample", config.string(), "--out", (folder / "again").string(), "--set",
                               "sampler.step_size=" + std::to_string(0.95 * advice)});
  EXPECT_EQ(again.code, 0) << again.err;
}

TEST(Divergence, StopsWithExit3TheIterationAndAStableStep) {
  const auto config = small_problem(2000);
  const auto run = config.parent_path() / "run";
  const auto result = penumbra({"sample", config.string(), "--out", run.string(), "--set", "sampler.step_size=1"});
  EXPECT_EQ(result.code, 3);
  EXPECT_NE(result.err.find("diverged at iteration"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("would be stable"), std::string::npos) << result.err;
  const auto summary = nlohmann::json::parse(read_text(run / "summary.json"));
  EXPECT_EQ(summary["outcome"], "diverged");
  const double limit = summary["diagnostics"]["step"]["stability_limit"];
  EXPECT_LT(limit, 1);
  const auto resumed =
      penumbra({"sample", config.string(), "--out", run.string(), "--set", "sampler.step_size=1", "--resume"});
  EXPECT_EQ(resumed.code, 3) << resumed.err;
  // The advice is good: half of it does not diverge.
  const auto again = penumbra({"sample", config.string(), "--out", (config.parent_path() / "again").string(), "--set",
                               "sampler.step_size=" + std::to_string(limit / 2)});
  EXPECT_EQ(again.code, 0) << again.err;
}

}  // namespace
}  // namespace penumbra::test
