#include "app/blackhole_data.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "io/checksum.h"

namespace penumbra::app {
namespace {

constexpr Bounds seed_bounds{0, 9007199254740992.0};

uint64_t sum_of(const Tensor& images, uint64_t before) {
  return io::checksum({reinterpret_cast<const char*>(images.data_ptr<float>()), images.nbytes()}, before);
}

}  // namespace

std::string BlackHoleData::describe() const {
  return fmt::format("{} generated black holes, seed {}", count, images.seed);
}

BlackHoleData blackhole_data_setting(Settings& section, training::ImageSetOptions& form) {
  for (const auto* key : {"folder", "validation_folder", "validation_share"})
    if (section.has(key)) section.fail(key, "expected either blackholes or a folder of images");
  form.low = 0;
  training::image_form_setting(section, form);
  using blackhole::largest_size, blackhole::smallest_size;
  if (form.channels != 1 || form.height != form.width || form.height < smallest_size || form.height > largest_size)
    section.fail("image_shape",
                 fmt::format("expected [1, n, n] with n from {} to {} for black holes, found {}", smallest_size,
                             largest_size, penumbra::describe({form.channels, form.height, form.width})));
  auto holes = section.section("blackholes");
  BlackHoleData data;
  data.images.size = form.height;
  data.count = holes.integer("count", data.count, {static_cast<double>(form.least), 1e7});
  data.images.seed = static_cast<uint64_t>(holes.integer("seed", 1, seed_bounds));
  data.validation_count = holes.integer("validation_count", data.validation_count, {1, 1e6});
  data.validation_seed =
      static_cast<uint64_t>(holes.integer("validation_seed", static_cast<int64_t>(data.images.seed) + 1, seed_bounds));
  if (data.validation_seed == data.images.seed)
    holes.fail("validation_seed", fmt::format("expected another seed than that of the images to train on, {}; training "
                                              "is judged by images that it has not seen",
                                              data.images.seed));
  data.images.ranges = blackhole::ranges_setting(holes);
  return data;
}

training::ImageSet generate_data(const BlackHoleData& data, const training::ImageSetOptions& form,
                                 const training::ReadProgress& progress) {
  const auto total = data.count + data.validation_count, pixels = form.height * form.width;
  training::require_memory(
      form.memory_limit,
      fmt::format("{}: {} images of 1x{}x{} as floats", data.describe(), total, form.height, form.width),
      4.0 * static_cast<double>(total) * static_cast<double>(pixels), "use a smaller count, or raise memory_gib");
  const auto make = [&](uint64_t seed, int64_t count, int64_t before) {
    auto options = data.images;
    options.seed = seed;
    const auto images = blackhole::generate_set(options, count, [&](int64_t done) {
      if (progress) progress(before + done, total);
    });
    return form.low + (form.high - form.low) * images;
  };
  training::ImageSet set;
  set.train = make(data.images.seed, data.count, 0);
  set.validation = make(data.validation_seed, data.validation_count, data.count);
  set.low = form.low;
  set.high = form.high;
  set.fingerprint = io::format_checksum(sum_of(set.validation, sum_of(set.train, io::checksum({}))));
  return set;
}

}  // namespace penumbra::app
