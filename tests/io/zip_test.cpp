// Entries of archives are found by the directory, in either of its widths, and lie within the file.
#include "io/zip.h"

#include <gtest/gtest.h>

#include "support/message.h"
#include "support/zip_archive.h"

namespace penumbra::io {
namespace {

using test::append_number;
using test::contains;
using test::message_of;

std::string number(uint64_t value, size_t width) {
  std::string bytes;
  append_number(bytes, value, width);
  return bytes;
}

/// The archive of one entry "x" with its sizes and offset, and its directory's, in the ZIP64 form.
std::string wide_archive(const std::string& data, uint64_t size, uint64_t offset, uint64_t directory_offset) {
  auto bytes = test::zip_archive({{"x", data}});
  bytes.resize(bytes.size() - 22);  // the end
  const auto directory = bytes.find("PK\x01\x02");
  bytes.replace(directory + 20, 8, std::string(8, '\xff'));
  bytes.replace(directory + 30, 2, number(28, 2));
  bytes.replace(directory + 42, 4, std::string(4, '\xff'));
  bytes += number(1, 2) + number(24, 2) + number(size, 8) + number(size, 8) + number(offset, 8);
  const auto end = bytes.size();
  bytes += number(0x06064b50, 4) + number(44, 8) + std::string(12, '\0') + number(1, 8) + number(1, 8) +
           number(end - directory, 8) + number(directory_offset, 8);
  bytes += number(0x07064b50, 4) + number(0, 4) + number(end, 8) + number(1, 4);
  return bytes + number(0x06054b50, 4) + std::string(4, '\0') + std::string(12, '\xff') + number(0, 2);
}

TEST(Zip, ReadsEntriesInEitherWidth) {
  const auto narrow = test::zip_archive({{"a/b", "first"}, {"c", ""}});
  const Zip zip(narrow, "x.zip");
  EXPECT_EQ(zip.names(), (std::vector<std::string>{"a/b", "c"}));
  EXPECT_EQ(zip.read("a/b"), "first");
  EXPECT_EQ(zip.read("c"), "");
  const auto directory = test::zip_archive({{"x", "data"}}).find("PK\x01\x02");
  EXPECT_EQ(Zip(wide_archive("data", 4, 0, directory), "x.zip").read("x").size(), 4);
}

TEST(Zip, ReadsPastAComment) {
  auto bytes = test::zip_archive({{"x", "data"}});
  bytes.replace(bytes.size() - 2, 2, number(300, 2));
  bytes += std::string(300, 'P');
  EXPECT_EQ(Zip(bytes, "x.zip").read("x"), "data");
}

TEST(Zip, RefusesWhatLiesBeyondTheFile) {
  const auto directory = test::zip_archive({{"x", "data"}}).find("PK\x01\x02");
  const auto error = [](const std::string& bytes) { return message_of([&] { Zip(bytes, "x.zip").read("x"); }); };
  ASSERT_EQ(error(wide_archive("data", 4, 0, directory)), "");
  EXPECT_TRUE(contains(error(wide_archive("data", 5, 0, directory)), "x.zip: x: the file is truncated"));
  EXPECT_TRUE(contains(error(wide_archive("data", ~uint64_t{0}, 0, directory)), "x.zip: x: the file is truncated"));
  EXPECT_TRUE(contains(error(wide_archive("data", 4, 1, directory)), "x.zip: x: expected the entry at byte 1"));
  EXPECT_TRUE(contains(error(wide_archive("data", 4, ~uint64_t{0}, directory)), "x.zip: x: lies beyond the archive"));
  EXPECT_TRUE(contains(error(wide_archive("data", 4, 0, ~uint64_t{0})), "x.zip: ZIP archive: its directory"));
  EXPECT_TRUE(contains(error(wide_archive("data", 4, 0, directory + 1)), "x.zip: "));
}

TEST(Zip, RefusesEntriesThatItCannotRead) {
  const auto error = [](const std::string& bytes, const std::string& entry) {
    return message_of([&] { Zip(bytes, "x.zip").read(entry); });
  };
  EXPECT_EQ(error(test::zip_archive({{"x", "1"}}), "y"), "x.zip: y: the archive has no such entry");
  EXPECT_TRUE(contains(error(test::zip_archive({{"x", "1"}}, 8), "x"), "found a compressed one"));
  EXPECT_TRUE(contains(error(test::zip_archive({{"x", "1"}}, 99), "x"), "found method 99"));
  auto encrypted = test::zip_archive({{"x", "1"}});
  encrypted[encrypted.find("PK\x01\x02") + 8] = 1;
  EXPECT_TRUE(contains(error(encrypted, "x"), "found an encrypted one"));
}

}  // namespace
}  // namespace penumbra::io
