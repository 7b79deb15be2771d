/// The line of progress, on a terminal that the test makes.
#include "app/progress.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <cstdlib>

namespace penumbra::app {
namespace {

/// What `work` writes to a stderr that is a terminal; nothing where the machine lends none.
std::optional<std::string> on_a_terminal(const std::function<void()>& work) {
  const int master = posix_openpt(O_RDWR | O_NOCTTY);
  if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0) return std::nullopt;
  const int slave = open(ptsname(master), O_RDWR | O_NOCTTY);
  if (slave < 0) return std::nullopt;
  std::fflush(stderr);
  const int kept = dup(STDERR_FILENO);
  dup2(slave, STDERR_FILENO);
  work();
  std::fflush(stderr);
  dup2(kept, STDERR_FILENO);
  std::string text;  // it comes in pieces, some of them late
  for (pollfd ready{master, POLLIN, 0}; !text.ends_with('\n') && poll(&ready, 1, /*ms=*/5000) > 0;) {
    char piece[4096];
    const auto size = read(master, piece, sizeof piece);
    if (size <= 0) break;
    text.append(piece, static_cast<size_t>(size));
  }
  for (const int file : {master, slave, kept}) close(file);
  return text;
}

TEST(Progress, CountsWhatHasNoKnownEnd) {
  const auto written = on_a_terminal([] {
    Progress progress;
    progress.count(12, "odds of 2 modes, scores taken");
    progress.count(13, "odds of 2 modes, scores taken");  // too soon for another line
  });
  if (!written) GTEST_SKIP() << "no terminal to be had";
  EXPECT_NE(written->find("odds of 2 modes, scores taken: 12"), std::string::npos) << *written;
  EXPECT_EQ(written->find(": 13"), std::string::npos) << *written;
  ASSERT_FALSE(written->empty());
  EXPECT_EQ(written->back(), '\n') << "the line is ended";
}

TEST(Progress, IsSilentWithoutATerminal) {
  testing::internal::CaptureStderr();
  {
    Progress progress;
    progress.count(12, "scores");
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace penumbra::app
