/// A flow fitted by `penumbra sample`: a run like any other, which a kill does not change.
#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <nlohmann/json.hpp>

#include "io/npy.h"
#include "support/paths.h"
#include "support/program.h"
#include "team/backend.h"

namespace penumbra::test {
namespace {

namespace fs = std::filesystem;

struct ScoreDpiRun : testing::Test {
  fs::path folder = small_problem().parent_path(), config = folder / "dpi.yaml";

  void SetUp() override {
    write_text(config, R"(
prior: {kind: random_field, side: 12, modes: 4}
likelihood: {kind: inpainting, fraction: 0.5, noise_sd: 0.1, data: y.npy}
sampler: {kind: score-dpi, steps: 60, batch: 4, levels: 4, flow: {layers: 4, width: 16}, optimiser: {learning_rate: 0.03, warm_up: 0}}
chains: 6
seed: 3
output: {checkpoint_every_steps: 1}
)");
  }
  std::vector<std::string> sample(const std::string& run, std::vector<std::string> more = {}) const {
    std::vector<std::string> args{"sample", config.string(), "--out", (folder / run).string(), "--device", "cpu"};
    args.insert(args.end(), more.begin(), more.end());
    return args;
  }
  void run_one(const std::string& run, const std::vector<std::string>& more = {}) const {
    const auto result = penumbra(sample(run, more));
    ASSERT_EQ(result.code, 0) << result.err;
  }
  /// A column of trace.csv.
  std::vector<double> trace(const std::string& run, const std::string& column) const {
    std::istringstream text(read_text(folder / run / "trace.csv"));
    std::string line, cell;
    std::getline(text, line);
    std::istringstream names(line);
    int64_t at = 0;
    while (std::getline(names, cell, ',') && cell != column) ++at;
    std::vector<double> values;
    while (std::getline(text, line)) {
      std::istringstream cells(line);
      for (int64_t i = 0; i <= at; ++i) std::getline(cells, cell, ',');
      values.push_back(std::stod(cell));
    }
    return values;
  }
};

TEST_F(ScoreDpiRun, FitsTheDataAndSaysWhatItIs) {
  run_one("run");
  const auto objective = trace("run", "objective"), chi2 = trace("run", "chi2");
  ASSERT_EQ(objective.size(), 60u);
  // One estimate says little.
  const auto course = at::tensor(objective, at::kDouble);
  EXPECT_LT(course.narrow(0, 50, 10).mean().item<double>(), course.narrow(0, 0, 10).mean().item<double>());
  EXPECT_LT(chi2.back(), 0.95 * chi2.front());
  EXPECT_EQ(io::read_npy(folder / "run" / "samples.npy").sizes(), at::IntArrayRef({6, 1, 12, 12}));
  const auto summary = nlohmann::json::parse(read_text(folder / "run" / "summary.json"));
  EXPECT_NE(summary["verdicts"].dump().find("score-dpi makes one image a chain, by an approximation"),
            std::string::npos);
  EXPECT_EQ(summary["chains"]["records"].get<int>(), 1);
  EXPECT_NE(read_text(folder / "run" / "report.html").find("Objective"), std::string::npos);
}

TEST_F(ScoreDpiRun, AKilledRunContinuesBitForBit) {
  run_one("reference");
  expect_resumed(sample("run"), folder / "run", folder / "reference");
  EXPECT_EQ(trace("run", "objective"), trace("reference", "objective"));
}

TEST_F(ScoreDpiRun, TwoProcessesDrawFromTheSameFlow) {
  if (!can_connect(at::kCPU)) GTEST_SKIP() << "this LibTorch's Gloo cannot be used";
  run_one("one");
  for (const auto& result : penumbra_team(2, sample("two"))) ASSERT_EQ(result.code, 0) << result.err;
  // To rounding, which 60 steps of Adam enlarge: its first ones divide gradients by their own size.
  EXPECT_LT(relative_error(io::read_npy(folder / "two" / "samples.npy"), io::read_npy(folder / "one" / "samples.npy")),
            1e-3);
}

TEST_F(ScoreDpiRun, ACheckpointWithoutTheFlowIsRefused) {
  ASSERT_EQ(kill_once_there(sample("run"), folder / "run" / "checkpoint" / "5"), -SIGKILL);
  for (const auto& entry : fs::directory_iterator(folder / "run" / "checkpoint")) {
    const auto manifest = entry.path() / "manifest.json";
    auto json = nlohmann::json::parse(read_text(manifest));
    auto& names = json["tensors"];
    names.erase(std::find(names.begin(), names.end(), "shared"));
    write_text(manifest, json.dump());
  }
  const auto result = penumbra(sample("run", {"--resume"}));
  EXPECT_EQ(result.code, 2);
  EXPECT_NE(result.err.find("shared: expected"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace penumbra::test
