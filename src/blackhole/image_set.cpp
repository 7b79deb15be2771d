#include "blackhole/image_set.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>

namespace penumbra::blackhole {
namespace {

Range range_setting(Settings& section, const char* key, const Range& otherwise) {
  const auto found = section.numbers(key, {otherwise.low, otherwise.high});
  if (found.size() != 2)
    section.fail(
        key, fmt::format("expected [low, high], found {} {}", found.size(), found.size() == 1 ? "number" : "numbers"));
  return {found[0], found[1]};
}

}  // namespace

SceneRanges ranges_setting(Settings& section) {
  SceneRanges ranges;
  for (const auto& field : range_fields()) {
    auto& range = ranges.*field.range;
    range = range_setting(section, field.name, range);
    if (!lies_within(range, field.bounds)) section.fail(field.name, expectation(range, field.bounds));
  }
  return ranges;
}

Tensor generate_set(const ImageOptions& options, int64_t count, const Made& made) {
  const auto images = at::empty({count, 1, options.size, options.size}, at::kFloat);
  const auto pixels = options.size * options.size;
  auto* out = images.data_ptr<float>();
  std::atomic<int64_t> next{0};
  int64_t done = 0;
  std::mutex mutex;
  const auto threads = std::min<int64_t>(at::get_num_threads(), count);
  at::parallel_for(0, threads, 1, [&](int64_t begin, int64_t end) {
    // One image after another to whichever thread is free: some have many more rays than others.
    for (; begin < end; ++begin)
      for (int64_t i; (i = next++) < count;) {
        const auto image = generate(options, i);
        std::copy(image.begin(), image.end(), out + i * pixels);
        const std::lock_guard lock(mutex);
        if (made) made(++done);
      }
  });
  return images;
}

}  // namespace penumbra::blackhole
