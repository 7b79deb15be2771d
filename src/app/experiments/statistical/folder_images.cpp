#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "app/experiments/statistical/images.h"
#include "core/error.h"
#include "io/image.h"

namespace penumbra::app::statistical {
namespace {

namespace fs = std::filesystem;

constexpr size_t most_images = 5000;

std::vector<fs::path> image_files(const fs::path& folder) {
  if (!fs::is_directory(folder)) input_error("--images: {}: expected a folder of PNG files", folder.string());
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file() && entry.path().extension() == ".png") files.push_back(entry.path());
  // The file system's order is no order.
  std::sort(files.begin(), files.end());
  if (files.size() > most_images) files.resize(most_images);
  return files;
}

/// Gray, cut to a square, averaged down: [side^2].
Tensor small_image(const fs::path& path, int64_t side) {
  auto image = io::read_image(path).mean(0);
  const auto square = std::min(image.size(0), image.size(1));
  if (square < side) input_error("{}: expected at least {} pixels a side, found {}", path.string(), side, square);
  image = image.narrow(0, (image.size(0) - square) / 2, square).narrow(1, (image.size(1) - square) / 2, square);
  return at::adaptive_avg_pool2d(image.unsqueeze(0), {side, side}).flatten();
}

/// Which rows lie above the middle along the first principal component.
Tensor upper_half(const Tensor& rows) {
  const auto centred = rows - rows.mean(0);
  const auto [left, singular, right] = at::linalg_svd(centred, /*full_matrices=*/false);
  const auto position = left.select(1, 0);
  return position > position.median();
}

}  // namespace

Images folder_images(const fs::path& folder, int64_t side) {
  const auto files = image_files(folder);
  std::vector<Tensor> training, candidates;
  for (size_t i = 0; i < files.size(); ++i) (i % 5 == 4 ? candidates : training).push_back(small_image(files[i], side));
  if (training.size() < 20)
    input_error("--images: {}: expected at least 25 PNG files, found {}", folder.string(), files.size());
  const auto rows = at::stack(training);
  const auto upper = upper_half(rows);
  Images images;
  images.source = fmt::format("{}: {} images", folder.string(), files.size());
  images.means = at::stack({rows.index({upper.logical_not()}).mean(0), rows.index({upper}).mean(0)});
  const auto centred = rows - images.means.index_select(0, upper.to(at::kLong));
  const auto [variances, basis] = at::linalg_eigh(centred.t().mm(centred) / static_cast<double>(training.size() - 2));
  // Eigenvalues below the floor are raised to it: only those above need a column.
  const auto above = (variances > images.floor).nonzero().flatten();
  images.factor = basis.index_select(1, above) * (variances.index_select(0, above) - images.floor).sqrt();
  images.candidates = at::stack(candidates);
  return images;
}

}  // namespace penumbra::app::statistical
