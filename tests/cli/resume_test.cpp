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
    const auto pid = start(sample(config, run, thin));
    while (!fs::exists(run / "config.yaml")) usleep(1000);
    usleep(500'000);
    kill(pid, signal);
    ASSERT_EQ(wait_for(pid), 130);
    ASSERT_TRUE(fs::exists(run / "checkpoint"));
    ASSERT_FALSE(fs::exists(run / "samples.npy"));
    auto resumed = thin;
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
  int kills = 0;
  for (int attempt = 0; attempt < 25; ++attempt) {
    const auto pid = start(sample(config, run, resumed));
    // Later and later, so that the kills fall everywhere: before the first checkpoint, in writes, in the results.
    usleep(60'000 + 17'000 * attempt);
    kill(pid, SIGKILL);
    kills += wait_for(pid) == -SIGKILL;
  }
  EXPECT_GT(kills, 5);
  const auto result = penumbra(sample(config, run, resumed));
  ASSERT_EQ(result.code, 0) << result.err;
  expect_same_results(run, reference);
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
