/// What a reader does with damaged files: it reads or refuses them, and never crashes.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>

#include "io/file.h"
#include "support/message.h"
#include "support/mutation.h"

namespace penumbra::test {

/// Calls read(k) on 200 damaged copies of a file, each in its place; an InputError must name it.
template <typename Read>
void expect_read_or_refused(const std::filesystem::path& path, Read read) {
  const auto whole = io::read_file(path);
  int refused = 0;
  for (unsigned k = 0; k < 200; ++k) {
    io::write_file(path, damaged(whole, k));
    try {
      read(k);
    } catch (const InputError& error) {
      EXPECT_TRUE(contains(error.what(), path.filename().string() + ": ")) << error.what();
      ++refused;
    }
  }
  EXPECT_GT(refused, 50);  // every fourth is cut off
}

}  // namespace penumbra::test
