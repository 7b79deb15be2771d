/// Several processes make the run of one.
#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "core/random.h"
#include "io/npy.h"
#include "support/paths.h"
#include "support/program.h"
#include "team/backend.h"

namespace penumbra::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// Everything but the times, the number of processes and that of threads.
json timeless_summary(const fs::path& run) {
  auto summary = json::parse(read_text(run / "summary.json"));
  for (const auto* key : {"started", "finished", "timings", "threads", "processes"}) summary.erase(key);
  return summary;
}

/// Numbers to the relative tolerance, everything else exactly.
void expect_near(const json& found, const json& expected, double tolerance, const std::string& where) {
  if (expected.is_number_float()) {
    ASSERT_TRUE(found.is_number()) << where;
    EXPECT_NEAR(found.get<double>(), expected.get<double>(), tolerance * std::abs(expected.get<double>()) + 1e-9)
        << where;
  } else if (expected.is_structured()) {
    ASSERT_EQ(found.size(), expected.size()) << where;
    for (const auto& [key, value] : expected.items())
      expect_near(expected.is_array() ? found[std::stoul(key)] : found.value(key, json()), value, tolerance,
                  where + "/" + key);
  } else {
    EXPECT_EQ(found, expected) << where;
  }
}

std::vector<std::vector<double>> trace(const fs::path& run) {
  std::istringstream text(read_text(run / "trace.csv"));
  std::vector<std::vector<double>> rows;
  std::string line, cell;
  std::getline(text, line);
  while (std::getline(text, line)) {
    std::istringstream cells(line);
    rows.emplace_back();
    while (std::getline(cells, cell, ',')) rows.back().push_back(cell.empty() ? 0 : std::stod(cell));
    rows.back().pop_back();  // seconds
  }
  return rows;
}

/// To rounding in float32: the chains of a process are stepped together, which rounds otherwise than with all of them.
void expect_same_run(const fs::path& run, const fs::path& reference) {
  for (const auto* name : {"samples.npy", "mean.npy", "sd.npy", "quantiles.npy"}) {
    const auto found = io::read_npy(run / name), expected = io::read_npy(reference / name);
    ASSERT_EQ(found.sizes(), expected.sizes()) << name;
    EXPECT_LT(relative_error(found, expected), 1e-5) << name;
  }
  EXPECT_EQ(read_text(run / "config.yaml"), read_text(reference / "config.yaml"));
  EXPECT_EQ(read_text(run / "provenance.json"), read_text(reference / "provenance.json"));
  // R-hat, p-values and the like are ratios of small differences: a looser tolerance.
  expect_near(timeless_summary(run), timeless_summary(reference), 1e-3, "summary");
  const auto found = trace(run), expected = trace(reference);
  ASSERT_EQ(found.size(), expected.size());
  for (size_t row = 0; row < found.size(); ++row)
    for (size_t column = 0; column < found[row].size(); ++column)
      EXPECT_NEAR(found[row][column], expected[row][column], 1e-4 * std::abs(expected[row][column]))
          << "trace " << row << " " << column;
  EXPECT_TRUE(fs::exists(run / "report.html"));
  EXPECT_FALSE(fs::exists(run / "checkpoint"));
}

void expect_same_bits(const fs::path& run, const fs::path& reference) {
  for (const auto* name : {"samples.npy", "mean.npy", "sd.npy", "quantiles.npy"})
    EXPECT_EQ(read_text(run / name), read_text(reference / name)) << name;
}

struct TeamRun : testing::Test {
  fs::path config = small_problem(), folder = config.parent_path();

  void SetUp() override {
    if (!can_connect(at::kCPU)) GTEST_SKIP() << "this LibTorch's Gloo cannot be used";
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
  void run_team(int size, const std::string& run, const std::vector<std::string>& more = {}) const {
    for (const auto& result : penumbra_team(size, sample(run, more))) ASSERT_EQ(result.code, 0) << result.err;
  }
  void wait_for_checkpoint(const std::string& run, int k) const {
    for (int wait = 0; wait < 60'000 && !fs::exists(folder / run / "checkpoint" / std::to_string(k)); ++wait)
      usleep(1000);
  }
};

TEST_F(TeamRun, TwoProcessesMakeTheRunOfOne) {
  run_one("one");
  run_team(2, "two");
  expect_same_run(folder / "two", folder / "one");
}

/// Shares of 2, 2 and 1; a history that has to be thinned; a start of its own for each chain.
TEST_F(TeamRun, UnevenSharesThinTheirHistoriesAlike) {
  io::write_npy(folder / "start.npy", uniform({4, 0, 0}, Stream::start, at::empty({5, 1, 12, 12}, at::kDouble)));
  const std::vector<std::string> more{"--set", "chains={count: 5, first: 3}",
                                      "--set", "output={record_from: 0, record_every: 1, history_megabytes: 0.05}",
                                      "--set", "sampler.start={kind: file, file: start.npy}"};
  run_one("one", more);
  run_team(3, "three", more);
  expect_same_run(folder / "three", folder / "one");
}

TEST_F(TeamRun, MomentumIsOfEachChain) {
  const std::vector<std::string> more{"--set", "sampler.momentum=0.8"};
  run_one("one", more);
  run_team(2, "two", more);
  expect_same_run(folder / "two", folder / "one");
}

TEST_F(TeamRun, OnlyTheFirstSpeaks) {
  const auto results = penumbra_team(2, sample("two"));
  EXPECT_FALSE(results[0].out.empty());
  EXPECT_EQ(results[1].out, "");
  EXPECT_EQ(results[1].err, "");
}

TEST_F(TeamRun, MoreProcessesThanChainsAreRefused) {
  for (const auto& result : penumbra_team(3, sample("run", {"--set", "chains=2"}))) {
    EXPECT_EQ(result.code, 2);
    EXPECT_NE(result.err.find("chains: 2 cannot be shared by 3 processes"), std::string::npos) << result.err;
  }
  EXPECT_FALSE(fs::exists(folder / "run"));
}

TEST_F(TeamRun, AFolderThatIsTakenEndsAllWithTheSameCode) {
  run_one("run");
  const auto results = penumbra_team(2, sample("run"));
  EXPECT_EQ(results[0].code, 2);
  EXPECT_NE(results[0].err.find("already holds a run"), std::string::npos) << results[0].err;
  EXPECT_EQ(results[1].code, 2);
  EXPECT_NE(results[1].err.find("process 0 ended this run"), std::string::npos) << results[1].err;
}

/// The signal reaches one process, the second.
TEST_F(TeamRun, AnInterruptOfOneStopsAllAndResumesBitForBit) {
  const std::vector<std::string> more{"--set", "sampler.steps=600", "--set", "output.checkpoint_every_steps=100"};
  auto resume = more;
  resume.push_back("--resume");
  run_team(2, "reference", more);
  for (const int signal : {SIGINT, SIGTERM}) {
    const auto run = "run" + std::to_string(signal);
    const auto members = start_team(2, sample(run, more));
    wait_for_checkpoint(run, 100);
    kill(members[1], signal);
    for (const auto member : members) ASSERT_EQ(wait_for(member), 130);
    ASSERT_FALSE(fs::exists(folder / run / "samples.npy"));
    const auto results = penumbra_team(2, sample(run, resume));
    ASSERT_EQ(results[0].code, 0) << results[0].err;
    EXPECT_NE(results[0].err.find("continuing after step"), std::string::npos) << results[0].err;
    EXPECT_EQ(results[1].code, 0) << results[1].err;
    expect_same_bits(folder / run, folder / "reference");
  }
}

TEST_F(TeamRun, AnotherNumberOfProcessesMayGoOn) {
  const std::vector<std::string> more{"--set", "sampler.steps=300", "--set", "output.checkpoint_every_steps=100"};
  auto resume = more;
  resume.push_back("--resume");
  run_one("one", more);
  const auto members = start_team(3, sample("run", more));
  wait_for_checkpoint("run", 100);
  kill(members[0], SIGTERM);
  for (const auto member : members) ASSERT_EQ(wait_for(member), 130);
  run_team(2, "run", resume);
  expect_same_run(folder / "run", folder / "one");
  for (const auto& result : penumbra_team(2, sample("run", resume))) EXPECT_EQ(result.code, 0) << result.err;
}

TEST_F(TeamRun, AKilledMemberEndsTheOthersAndTheCheckpointStays) {
  const std::vector<std::string> more{"--set", "sampler.steps=100000", "--set", "output.checkpoint_every_steps=100"};
  const auto members = start_team(3, sample("run", more));
  wait_for_checkpoint("run", 100);
  kill(members[1], SIGKILL);
  EXPECT_EQ(wait_for(members[1]), -SIGKILL);
  EXPECT_EQ(wait_for(members[0]), 1);
  EXPECT_EQ(wait_for(members[2]), 1);
  EXPECT_TRUE(fs::exists(folder / "run" / "checkpoint"));
}

/// The start of the last chain alone is beyond the limit: only the second process sees it.
TEST_F(TeamRun, ADivergenceInOneEndsAllWithExit3) {
  auto start = at::zeros({6, 1, 12, 12}, at::kDouble);
  start[5] = 1e6;
  io::write_npy(folder / "start.npy", start);
  const std::vector<std::string> more{"--set", "sampler.start={kind: file, file: start.npy}", "--set",
                                      "sampler.divergence_limit=1e3"};
  const auto alone = penumbra(sample("one", more));
  ASSERT_EQ(alone.code, 3);
  const auto results = penumbra_team(2, sample("two", more));
  EXPECT_EQ(results[0].code, 3) << results[0].err;
  EXPECT_EQ(results[1].code, 3) << results[1].err;
  EXPECT_EQ(results[0].err, alone.err);
  EXPECT_EQ(results[1].err, "");
  expect_near(timeless_summary(folder / "two"), timeless_summary(folder / "one"), 1e-3, "summary");
}

TEST_F(TeamRun, CommandsThatWorkAloneDoNotMindAStrayRank) {
  setenv("RANK", "0", 1);
  const auto alone = penumbra({"certify", config.string(), "--device", "cpu"});
  const auto shared = penumbra(sample("run"));
  unsetenv("RANK");
  EXPECT_EQ(alone.code, 0) << alone.err;
  EXPECT_EQ(shared.code, 2);
  EXPECT_NE(shared.err.find("environment variable WORLD_SIZE: missing"), std::string::npos) << shared.err;
}

TEST_F(TeamRun, AMalformedPlaceIsNamed) {
  setenv("RANK", "2", 1);
  setenv("WORLD_SIZE", "2", 1);
  const auto result = penumbra(sample("run"));
  unsetenv("RANK");
  unsetenv("WORLD_SIZE");
  EXPECT_EQ(result.code, 2);
  EXPECT_NE(result.err.find("environment variable RANK: expected less than WORLD_SIZE = 2"), std::string::npos)
      << result.err;
}

}  // namespace
}  // namespace penumbra::test
