// A file is the old one or the new one; what the machine refuses is said with its reason.
#include "io/file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <limits>
#include <thread>
#include <vector>

#include "support/message.h"
#include "support/paths.h"

namespace penumbra::io {
namespace {

namespace fs = std::filesystem;
using test::contains;
using test::message_of;

int64_t count_in(const fs::path& folder) {
  return std::distance(fs::directory_iterator(folder), fs::directory_iterator{});
}

TEST(File, ReadsBackWhatWasWritten) {
  const auto path = test::scratch() / "x";
  const std::string content("a\0b\n", 4);
  write_file(path, content);
  EXPECT_EQ(read_file(path), content);
  write_file(path, "");
  EXPECT_EQ(read_file(path), "");
}

TEST(File, LeavesNothingElseBehind) {
  const auto folder = test::scratch();
  write_file(folder / "x", "1");
  write_file(folder / "x", "2");
  EXPECT_EQ(count_in(folder), 1);
}

TEST(File, WritesANameAsLongAsTheSystemAllows) {
  const auto path = test::scratch() / std::string(255, 'n');
  write_file(path, "1");
  EXPECT_EQ(read_file(path), "1");
}

TEST(File, KeepsTheOldContentWhenWritingFails) {
  const auto folder = test::scratch();
  fs::create_directories(folder / "target" / "inner");
  EXPECT_TRUE(contains(message_of<MachineError>([&] { write_file(folder / "target", "new"); }), "cannot be written"));
  EXPECT_TRUE(fs::exists(folder / "target" / "inner"));
  EXPECT_EQ(count_in(folder), 1);
}

TEST(File, GivesTheReasonWhenTheFolderIsNotThere) {
  const auto path = test::scratch() / "no" / "x";
  EXPECT_EQ(message_of<MachineError>([&] { write_file(path, "1"); }),
            path.string() + ": cannot be written: No such file or directory");
}

TEST(File, GivesTheReasonWhenTheDiskIsFull) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full on this machine";
  EXPECT_EQ(message_of<MachineError>([] { write_file("/dev/full", "1"); }),
            "/dev/full: cannot be written: No space left on device");
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

TEST(File, WritesToADeviceInsteadOfReplacingIt) {
  write_file("/dev/null", "1");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST(File, SurvivesManyWritersOfOneName) {
  const auto folder = test::scratch();
  const std::string a(100000, 'a'), b(100000, 'b');
  std::vector<std::thread> writers;
  for (int i = 0; i < 4; ++i) writers.emplace_back([&, i] { write_file(folder / "x", i % 2 ? a : b); });
  for (auto& writer : writers) writer.join();
  const auto content = read_file(folder / "x");
  EXPECT_TRUE(content == a || content == b);
  EXPECT_EQ(count_in(folder), 1);
}

TEST(File, RefusesToReadWhatIsNotThereOrAFolder) {
  const auto folder = test::scratch();
  EXPECT_EQ(message_of([&] { read_file(folder / "no"); }),
            (folder / "no").string() + ": cannot be read: No such file or directory");
  EXPECT_EQ(message_of([&] { read_file(folder); }), folder.string() + ": is a folder; expected a file");
}

TEST(File, ReadsWhatHasNoSize) { EXPECT_TRUE(contains(read_file("/proc/self/status"), "Pid:")); }

TEST(RequireWritable, MakesTheFolderAndLeavesItEmpty) {
  const auto folder = test::scratch() / "a" / "b";
  require_writable(folder, 1000);
  EXPECT_EQ(count_in(folder), 0);
}

TEST(RequireWritable, RefusesAFolderBelowAFile) {
  const auto folder = test::scratch();
  write_file(folder / "file", "1");
  EXPECT_TRUE(contains(message_of<InputError>([&] { require_writable(folder / "file" / "run", 0); }),
                       "file/run: the folder cannot be made: Not a directory"));
  EXPECT_NE(message_of<InputError>([&] { require_writable(folder / "file", 0); }), "");
}

TEST(RequireWritable, SaysHowMuchRoomIsNeededAndFree) {
  const auto message =
      message_of<InputError>([] { require_writable(test::scratch(), std::numeric_limits<uint64_t>::max() / 2); });
  EXPECT_TRUE(contains(message, "not enough room: 8388608.0 TiB needed, ")) << message;
  EXPECT_TRUE(contains(message, " free")) << message;
}

}  // namespace
}  // namespace penumbra::io
