/// What works on a run's results says how far the run came, where there are none.
#include <gtest/gtest.h>
#include <signal.h>

#include "support/message.h"
#include "support/paths.h"
#include "support/program.h"

namespace penumbra::test {
namespace {

namespace fs = std::filesystem;

struct FinishedRun : testing::Test {
  fs::path config = small_problem(200000);
  fs::path run = config.parent_path() / "run";

  std::vector<std::string> sample(const std::vector<std::string>& more) {
    std::vector<std::string> args{"sample", config.string(), "--out", run.string()};
    args.insert(args.end(), more.begin(), more.end());
    return args;
  }

  void expect_refused(const std::vector<std::string>& args, const std::vector<std::string>& words) {
    const auto result = penumbra(args);
    EXPECT_EQ(result.code, 2) << args[0] << ": " << result.err;
    EXPECT_EQ(result.out, "") << args[0];
    for (const auto& word : words)
      EXPECT_TRUE(contains(result.err, word)) << args[0] << ": " << word << " in: " << result.err;
  }
  void expect_refused_by_all(const std::vector<std::string>& words) {
    const auto truth = (config.parent_path() / "truth.npy").string();
    expect_refused({"evaluate", run.string(), "--truth", truth}, words);
    expect_refused({"modes", run.string()}, words);
    expect_refused({"extrapolate", run.string()}, words);
    EXPECT_FALSE(fs::exists(run / "half-step"));
  }
};

TEST_F(FinishedRun, AnInterruptedOneIsToBeContinued) {
  const auto killed =
      kill_once_there(sample({"--set", "output.record_every=5000", "--set", "output.checkpoint_every_steps=100"}),
                      run / "checkpoint" / "100");
  ASSERT_EQ(killed, -SIGKILL);
  const std::vector<std::string> words{"not finished (step ", " of 200000)", "--resume continues it"};
  expect_refused_by_all(words);
  expect_refused({"report", run.string()}, words);
}

TEST_F(FinishedRun, ADivergedOneHasAReportAndNothingElse) {
  ASSERT_EQ(penumbra(sample({"--set", "sampler.step_size=1"})).code, 3);
  expect_refused_by_all({"expected a run that finished; this one diverged at iteration "});
  EXPECT_EQ(penumbra({"report", run.string()}).code, 0);
}

}  // namespace
}  // namespace penumbra::test
