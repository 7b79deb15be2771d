// Many images at once: the same whatever the threads; ranges from a configuration.
#include "blackhole/image_set.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "support/message.h"

namespace penumbra::blackhole {
namespace {

using test::contains;
using test::message_of;

TEST(BlackHoleSet, DoesNotDependOnTheThreads) {
  const ImageOptions options{.size = 16, .seed = 4};
  const auto threads = at::get_num_threads();
  at::set_num_threads(1);
  const auto alone = generate_set(options, 12);
  at::set_num_threads(4);
  int64_t calls = 0;
  const auto together = generate_set(options, 12, [&](int64_t done) { EXPECT_EQ(done, ++calls); });
  at::set_num_threads(threads);
  EXPECT_TRUE(at::equal(alone, together));
  EXPECT_EQ(calls, 12);
  const auto fifth = generate(options, 5);
  EXPECT_TRUE(at::equal(alone[5].flatten(), at::from_blob(const_cast<float*>(fifth.data()), {16 * 16}, at::kFloat)));
}

TEST(BlackHoleSet, BeginsAlikeWhateverItsCount) {
  const ImageOptions options{.size = 16, .seed = 4};
  EXPECT_TRUE(at::equal(generate_set(options, 3), generate_set(options, 5).narrow(0, 0, 3)));
}

TEST(BlackHoleSet, IsOfManyKinds) {
  // A prior is to know thin rings, crescents and spots: pairs of images, brought to one flux, differ by far more than
  // resampling would make them, and no two are alike.
  const auto images = generate_set({.size = 32, .seed = 1}, 60).flatten(1);
  const auto flux = images / images.sum(1, true);
  // Half of the sum of absolute differences: the share of the light that lies elsewhere.
  const auto elsewhere = (flux.unsqueeze(0) - flux.unsqueeze(1)).abs().sum(2) / 2;
  const auto others = elsewhere + at::eye(60);
  EXPECT_GT(others.min().item<double>(), 0.05);
  EXPECT_GT(elsewhere.mean().item<double>(), 0.35);
}

SceneRanges ranges(const std::string& text) {
  auto settings = Settings::from_text(text, "c.yaml");
  const auto found = ranges_setting(settings);
  settings.finish();
  return found;
}

TEST(BlackHoleSet, TakesItsRangesFromAConfiguration) {
  const auto found = ranges("{spin: [0.5, 0.9], diameter: [0.3, 0.3]}");
  EXPECT_EQ(found.spin.low, 0.5);
  EXPECT_EQ(found.diameter.high, 0.3);
  EXPECT_EQ(found.blur.high, SceneRanges{}.blur.high);
}

TEST(BlackHoleSet, RefusesRangesThatMakeNoSense) {
  const auto message = message_of([] { ranges("{spin: [-1.2, 0.5]}"); });
  EXPECT_TRUE(contains(message, "c.yaml:1: spin: expected [low, high] within -0.998 to 0.998, found [-1.2, 0.5]"))
      << message;
  EXPECT_TRUE(contains(message_of([] { ranges("{diameter: [0.4, 0.3]}"); }), "diameter"));
  EXPECT_TRUE(contains(message_of([] { ranges("{peak: [1]}"); }), "found 1 number"));
  EXPECT_TRUE(contains(message_of([] { ranges("{blur: [.nan, 1]}"); }), "blur"));
}

}  // namespace
}  // namespace penumbra::blackhole
