/// Never lose a sample: interrupted, killed and split runs give what the undisturbed run gives.
#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "io/npy.h"
#include "support/paths.h"
#include "support/program.h"

namespace penumbra::test {
namespace {

namespace fs = std::filesystem;

void expect_same_results(const fs::path& run, const fs::path& reference) {
  for (const auto* name : {"samples.npy", "mean.npy", "sd.npy", "quantiles.npy"})
    EXPECT_EQ(read_text(run / name), read_text(reference / name)) << name;
}

std::vector<std::string> sample(const fs::path& config, const fs::path& run, std::vector<std::string> more = {}) {
  std::vector<std::string> args{"sample", config.string(), "--out", run.string()};
  args.insert(args.end(), more.begin(), more.end());
  return args;
}

fs::path undisturbed(const fs::path& config, std::vector<std::string> more = {}) {
  const auto run = config.parent_path() / "reference";
  const auto result = penumbra(sample(config, run, std::move(more)));
  EXPECT_EQ(result.code, 0) << result.err;
  return run;
}

TEST(Resume, AnInterruptedRunSavesExits130AndContinuesBitForBit) {
  for (const int signal : {SIGINT, SIGTERM}) {
    const auto config = small_problem(20000);
    const std::vector<std::string> thin{"--set", "output.record_every=500"};
    const auto reference = undisturbed(config, thin);
    const auto run = config.parent_path() / "run";
    auto interruptible = thin;
    interruptible.insert(interruptible.end(), {"--set", "output.checkpoint_every_steps=1000"});
    const auto pid = start(sample(config, run, interruptible));
    // The first checkpoint shows that the run is under way, far from its end.
    for (int wait = 0; wait < 60'000 && !fs::exists(run / "checkpoint" / "1000"); ++wait) usleep(1000);
    kill(pid, signal);
    ASSERT_EQ(wait_for(pid), 130);
    ASSERT_TRUE(fs::exists(run / "checkpoint"));
    ASSERT_FALSE(fs::exists(run / "samples.npy"));
    auto resumed = interruptible;
    resumed.push_back("--resume");
    const auto result = penumbra(sample(config, run, resumed));
    ASSERT_EQ(result.code, 0) << result.err;
    EXPECT_NE(result.err.find("continuing after step"), std::string::npos) << result.err;
    expect_same_results(run, reference);
    EXPECT_FALSE(fs::exists(run / "checkpoint"));
  }
}

/// A checkpoint after every step: most of the run's time is spent writing them, so most kills hit a write.
TEST(Resume, KillsAtAnyMomentLoseNothingThatWasSavedAndCorruptNothing) {
  const auto config = small_problem(40);
  const auto reference = undisturbed(config);
  const std::vector<std::string> often{"--set", "output.checkpoint_every_steps=1"};
  const auto slow_reference = config.parent_path() / "slow";
  ASSERT_EQ(penumbra(sample(config, slow_reference, often)).code, 0);
  expect_same_results(slow_reference, reference);

  const auto run = config.parent_path() / "run";
  auto resumed = often;
  resumed.push_back("--resume");
  const auto unfinished = [&] {
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(run / "checkpoint", none))
      if (entry.path().extension() == ".unfinished") return true;
    return false;
  };
  int kills = 0, kills_in_a_write = 0;
  // A third at any time from the start on; the others the moment that a checkpoint is seen being written.
  for (int attempt = 0; attempt < 24 && !fs::exists(run / "summary.json"); ++attempt) {
    const auto pid = start(sample(config, run, resumed));
    if (attempt % 3 == 0)
      usleep(60'000 + 20'000 * attempt);
    else
      for (int wait = 0; wait < 200'000 && !unfinished() && !fs::exists(run / "summary.json"); ++wait) usleep(20);
    kill(pid, SIGKILL);
    kills += wait_for(pid) == -SIGKILL;
    kills_in_a_write += unfinished();
  }
  EXPECT_GT(kills, 5);
  EXPECT_GT(kills_in_a_write, 0);
  const auto result = penumbra(sample(config, run, resumed));
  ASSERT_EQ(result.code, 0) << result.err;
  expect_same_results(run, reference);
}

/// The velocity is part of the state.
TEST(Resume, AKilledRunWithMomentumContinuesBitForBit) {
  const auto config = small_problem();
  const std::vector<std::string> more{"--set", "sampler.momentum=0.8", "--set", "chains={count: 5, batch: 2}"};
  const auto reference = undisturbed(config, more);
  auto often = more;
  often.insert(often.end(), {"--set", "output.checkpoint_every_steps=1"});
  const auto run = config.parent_path() / "run";
  expect_resumed(sample(config, run, often), run, reference);
}

/// What a kill between the results and the end of the clean-up leaves.
TEST(Resume, ARunKilledWhileItsCheckpointIsDroppedIsStillComplete) {
  const auto config = small_problem();
  const auto run = undisturbed(config);
  fs::create_directories(run / "checkpoint.done" / "40");
  EXPECT_EQ(penumbra(sample(config, run, {"--resume"})).code, 0);
  fs::create_directories(run / "checkpoint" / "40");
  const auto result = penumbra(sample(config, run, {"--resume"}));
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_FALSE(fs::exists(run / "checkpoint"));
}

TEST(Resume, TwoProcessesDoNotWorkInOneFolder) {
  const auto config = small_problem(200000);
  const auto run = config.parent_path() / "run";
  const auto pid = start(sample(config, run, {"--set", "output.record_every=5000"}));
  for (int wait = 0; wait < 60'000 && !fs::exists(run / "config.yaml"); ++wait) usleep(1000);
  const auto second = penumbra(sample(config, run, {"--set", "output.record_every=5000", "--resume"}));
  kill(pid, SIGKILL);
  wait_for(pid);
  EXPECT_EQ(second.code, 2);
  EXPECT_NE(second.err.find("another process"), std::string::npos) << second.err;
}

TEST(Resume, RefusesDataThatHaveChangedSince) {
  const auto config = small_problem(200000);
  const auto run = config.parent_path() / "run";
  const auto pid = start(sample(config, run));
  for (int wait = 0; wait < 60'000 && !fs::exists(run / "config.yaml"); ++wait) usleep(1000);
  kill(pid, SIGKILL);
  wait_for(pid);
  io::write_npy(config.parent_path() / "y.npy", io::read_npy(config.parent_path() / "y.npy") + 1);
  const auto result = penumbra(sample(config, run, {"--resume"}));
  EXPECT_EQ(result.code, 2);
  EXPECT_NE(result.err.find("y.npy: the file has changed"), std::string::npos) << result.err;
}

TEST(Resume, ACompleteRunIsLeftAlone) {
  const auto config = small_problem();
  const auto run = undisturbed(config);
  const auto before = fs::last_write_time(run / "samples.npy");
  const auto result = penumbra(sample(config, run, {"--resume"}));
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.out.find("complete"), std::string::npos);
  EXPECT_EQ(fs::last_write_time(run / "samples.npy"), before);
}

TEST(Invariance, ThreadsDoNotMatterToTheNoiseNorMuchToTheImages) {
  const auto config = small_problem();
  const auto reference = io::read_npy(undisturbed(config, {"--threads", "1"}) / "samples.npy");
  const auto run = config.parent_path() / "two";
  ASSERT_EQ(penumbra(sample(config, run, {"--threads", "2"})).code, 0);
  EXPECT_LT(relative_error(io::read_npy(run / "samples.npy"), reference), 1e-5);
}

TEST(Invariance, BatchesDoNotMatterButForRounding) {
  const auto config = small_problem();
  const auto reference = io::read_npy(undisturbed(config) / "samples.npy");
  const auto run = config.parent_path() / "batched";
  ASSERT_EQ(penumbra(sample(config, run, {"--set", "chains={count: 6, batch: 4}"})).code, 0);
  EXPECT_LT(relative_error(io::read_npy(run / "samples.npy"), reference), 1e-5);
}

TEST(Invariance, TwoProcessesMakeTheChainsOfOne) {
  const auto config = small_problem();
  const auto reference = io::read_npy(undisturbed(config) / "samples.npy");
  std::vector<Tensor> parts;
  for (const auto* part : {"{count: 4, first: 0}", "{count: 2, first: 4}"}) {
    const auto run = config.parent_path() / ("part" + std::to_string(parts.size()));
    ASSERT_EQ(penumbra(sample(config, run, {"--set", std::string("chains=") + part})).code, 0);
    parts.push_back(io::read_npy(run / "samples.npy"));
  }
  EXPECT_LT(relative_error(at::cat(parts), reference), 1e-5);
}

TEST(Invariance, TheSameCommandGivesTheSameBits) {
  const auto config = small_problem();
  const auto reference = undisturbed(config);
  const auto run = config.parent_path() / "again";
  // The run's own config.yaml reruns it, from anywhere.
  ASSERT_EQ(penumbra(sample(reference / "config.yaml", run)).code, 0);
  expect_same_results(run, reference);
  EXPECT_EQ(read_text(run / "config.yaml"), read_text(reference / "config.yaml"));
}

}  // namespace
}  // namespace penumbra::test
