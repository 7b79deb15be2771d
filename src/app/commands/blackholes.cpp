/// penumbra blackholes --count N --out images.npy: images of black holes to train a prior on, or to look at.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <chrono>
#include <map>

#include "app/command.h"
#include "app/options.h"
#include "app/progress.h"
#include "blackhole/image_set.h"
#include "core/error.h"
#include "io/file.h"
#include "io/image.h"
#include "io/image_grid.h"
#include "io/npy.h"
#include "training/images.h"

namespace penumbra::app {
namespace {

namespace fs = std::filesystem;

/// Images of the picture that is written beside them.
constexpr int64_t pictured = 64;

struct Options {
  int64_t count = 64;
  int64_t size = 64;
  std::optional<uint64_t> seed;
  std::map<std::string, std::vector<double>> ranges;
  fs::path out;
  bool png = false;
  MachineOptions machine;
};

std::string flag_of(const blackhole::RangeField& field) {
  std::string name = field.name;
  std::replace(name.begin(), name.end(), '_', '-');
  return "--" + name;
}

blackhole::ImageOptions image_options(const Options& options) {
  blackhole::ImageOptions images{.size = options.size, .seed = options.seed.value_or(0)};
  for (const auto& field : blackhole::range_fields()) {
    const auto& given = options.ranges.at(field.name);
    if (given.empty()) continue;
    const blackhole::Range range{given[0], given[1]};
    if (!blackhole::lies_within(range, field.bounds))
      input_error("{}: {}", flag_of(field), blackhole::expectation(range, field.bounds));
    images.ranges.*field.range = range;
  }
  return images;
}

/// Beside the images and never among them: a folder of images may be trained on.
fs::path picture_of(const Options& options) {
  auto path = options.out;
  if (!options.png) return path.replace_extension(".png");
  if (!path.has_filename()) path = path.parent_path();
  return path += ".png";
}

/// Before minutes of work: the files' folder can be written, and what is named as a file is none.
void require_place(const Options& options) {
  if (!options.png && options.out.extension() != ".npy")
    input_error("--out: expected a file name that ends in .npy, or --png for a folder, found {}", options.out.string());
  if (!options.png && fs::is_directory(options.out))
    input_error("--out: expected the name of a file, found a folder, {}", options.out.string());
  const auto folder = options.png ? options.out : options.out.parent_path();
  const auto bytes = static_cast<uint64_t>(options.count * options.size * options.size * (options.png ? 1 : 4));
  io::require_writable(folder.empty() ? "." : folder, bytes);
  if (const auto picture = picture_of(options); fs::exists(picture) && !fs::exists(options.out))
    input_error("--out: {}: the picture of the images, {}, is there already and they are not; expected another name",
                options.out.string(), picture.string());
}

void write_images(const Options& options, const Tensor& images) {
  if (!options.png) {
    io::write_npy(options.out, images);
    return;
  }
  for (int64_t i = 0; i < images.size(0); ++i)
    io::write_png(options.out / fmt::format("{:07}.png", i), io::to_bytes(images[i][0], 0, 1));
}

int make_blackholes(const Options& options) {
  use_machine(options.machine);
  const auto images = image_options(options);
  // Once as numbers and once as the file's bytes.
  training::require_memory(0, fmt::format("--count: {} images of {}x{}", options.count, options.size, options.size),
                           8.0 * static_cast<double>(options.count * options.size * options.size),
                           "expected fewer or smaller ones");
  require_place(options);
  const auto start = std::chrono::steady_clock::now();
  Tensor made;
  {
    Progress progress;
    made = blackhole::generate_set(images, options.count,
                                   [&](int64_t done) { progress.show(done, options.count, {}, "images"); });
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  write_images(options, made);
  const auto picture = picture_of(options);
  io::write_png(picture, io::to_bytes(io::image_grid(made.narrow(0, 0, std::min(pictured, options.count))), 0, 1));
  fmt::print("{}: {} images of {}x{}, seed {}, {:.1f} a second on {} threads\n{}: the first of them\n",
             options.out.string(), options.count, options.size, options.size, images.seed,
             static_cast<double>(options.count) / seconds, at::get_num_threads(), picture.string());
  return success;
}

std::function<int()> declare(CLI::App& command) {
  auto options = std::make_shared<Options>();
  command.add_option("--count", options->count, "number of images")
      ->check(CLI::Range(1, 10000000))
      ->capture_default_str();
  command.add_option("--size", options->size, "pixels along each side")
      ->check(CLI::Range(blackhole::smallest_size, blackhole::largest_size))
      ->capture_default_str();
  command.add_option("--out", options->out, "images.npy, float32 [N, 1, size, size] in [0, 1]; with --png a folder")
      ->required();
  command.add_flag("--png", options->png, "one 8-bit PNG an image instead of an array");
  for (const auto& field : blackhole::range_fields()) {
    const auto usual = blackhole::SceneRanges{}.*field.range;
    command
        .add_option(flag_of(field), options->ranges[field.name],
                    fmt::format("LOW HIGH: {} (default: {:g} to {:g})", field.meaning, usual.low, usual.high))
        ->expected(2);
  }
  add_seed_option(command, options->seed);
  add_machine_options(command, options->machine);
  return [options] { return make_blackholes(*options); };
}

}  // namespace

extern const CommandEntry blackholes{"blackholes", "make images of black holes", declare};

}  // namespace penumbra::app
