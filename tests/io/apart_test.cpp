// What crashes elsewhere is an error here.
#include "io/apart.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <csignal>

#include "support/message.h"

namespace penumbra::io {
namespace {

using test::contains;
using test::message_of;

std::string run(const std::function<std::string()>& work) { return run_apart(work, "x.h5", "the library", 60); }

TEST(Apart, HandsTheBytesOver) {
  EXPECT_EQ(run([] { return std::string("a\0b", 3); }), std::string("a\0b", 3));
  EXPECT_EQ(run([] { return std::string(); }), "");
  // Larger than a pipe holds.
  EXPECT_EQ(run([] { return std::string(3000000, 'x'); }), std::string(3000000, 'x'));
}

TEST(Apart, HandsErrorsOver) {
  EXPECT_EQ(message_of([] { run([]() -> std::string { throw InputError("x.h5: wrong"); }); }), "x.h5: wrong");
  EXPECT_EQ(message_of<MachineError>([] { run([]() -> std::string { throw std::runtime_error("no room"); }); }),
            "x.h5: no room");
}

TEST(Apart, TurnsACrashIntoAnError) {
  const auto crash = [] {
    std::signal(SIGSEGV, SIG_DFL);  // a sanitizer would take it for itself
    std::raise(SIGSEGV);
    return std::string();
  };
  EXPECT_EQ(message_of([&] { run(crash); }),
            "x.h5: the library could not cope with it (Segmentation fault); is the file damaged?");
}

TEST(Apart, EndsWhatNeverEnds) {
  const auto spin = []() -> std::string {
    for (volatile int turn = 0; turn == 0;) {
    }
    return {};
  };
  EXPECT_TRUE(contains(message_of([&] { run_apart(spin, "x.h5", "the library", 1); }), "could not cope with it"));
}

TEST(Apart, ChangesNothingHere) {
  int number = 1;
  run([&] {
    number = 2;
    return std::string();
  });
  EXPECT_EQ(number, 1);
}

TEST(Apart, ComputesThoughTheParentHasThreads) {
  const auto ones = at::ones({1 << 20});
  const auto expected = (ones + ones).sum().item<double>();  // wakes the threads here
  EXPECT_EQ(run([&] { return std::to_string((ones + ones).sum().item<double>()); }), std::to_string(expected));
}

}  // namespace
}  // namespace penumbra::io
