#include "app/experiments/interferometry/truths.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>

#include "blackhole/image_set.h"
#include "core/error.h"
#include "io/image.h"
#include "training/fit.h"

namespace penumbra::app::interferometry {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t away_from_training = 1000000;

std::vector<fs::path> image_files(const fs::path& folder) {
  const std::vector<std::string> known{".fits", ".npy", ".png", ".jpg", ".jpeg", ".txt"};
  if (!fs::is_directory(folder)) input_error("--images: expected a folder, found {}", folder.string());
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file() &&
        std::find(known.begin(), known.end(), entry.path().extension().string()) != known.end())
      files.push_back(entry.path());
  if (files.empty())
    input_error("{}: expected images (.fits, .npy, .png, .jpg, ehtim's .txt), found none", folder.string());
  std::sort(files.begin(), files.end());
  return files;
}

Tensor read_truth(const fs::path& file, int64_t side) {
  const auto pixels = io::read_image(file, 0, 1);
  if (pixels.size(0) != 1 && pixels.size(0) != 3)
    input_error("{}: expected one image, gray or in colour, found {}", file.string(), describe(pixels.sizes()));
  // In units of the brightest: Jy a pixel may be too small a number for floats to be averaged with care.
  const double brightest = pixels.max().item<double>();
  if (!(brightest > 0) || !pixels.isfinite().all().item<bool>())
    input_error("{}: expected finite pixels with light, found {} for the brightest", file.string(), brightest);
  const auto small = training::fit((pixels / brightest).to(at::kFloat), {1, side, side}).to(at::kDouble).clamp_min(0);
  return small / small.max();
}

}  // namespace

Truths generated_truths(int64_t count, int64_t side, uint64_t seed) {
  const blackhole::ImageOptions options{.size = side, .seed = away_from_training + seed};
  Truths truths;
  truths.images = blackhole::generate_set(options, count).to(at::kDouble);
  for (int64_t i = 0; i < count; ++i) truths.names.push_back(fmt::format("{}", i + 1));
  truths.source = fmt::format("{} black holes of the generator, seed {}", count, options.seed);
  return truths;
}

Truths folder_truths(const fs::path& folder, int64_t count, int64_t side) {
  const auto files = image_files(folder);
  const auto found = static_cast<int64_t>(files.size());
  Truths truths;
  std::vector<Tensor> images;
  count = std::min(count, found);
  for (int64_t i = 0; i < count; ++i) {
    const auto& file = files[static_cast<size_t>(i * found / count)];
    images.push_back(read_truth(file, side));
    truths.names.push_back(fs::relative(file, folder).string());
  }
  truths.images = at::stack(images);
  truths.source = fmt::format("{} of the {} images in {}", count, found, folder.filename().string());
  return truths;
}

}  // namespace penumbra::app::interferometry
