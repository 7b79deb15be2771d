#include "training/files.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>

#include <fmt/ranges.h>

#include "core/error.h"
#include "io/jpeg.h"
#include "io/npy_data.h"
#include "io/sky_image.h"

namespace penumbra::training {
namespace {

namespace fs = std::filesystem;

std::string beginning(const fs::path& path, size_t length) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes(length, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(length));
  if (!file.eof() && !file) input_error("{}: cannot be read", path.string());
  bytes.resize(static_cast<size_t>(file.gcount()));
  return bytes;
}

bool named_like_an_image(const fs::path& path) {
  auto extension = path.extension().string();
  for (auto& letter : extension) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return std::set<std::string>{".png", ".jpg", ".jpeg", ".npy"}.contains(extension);
}

int64_t images_in_array(const fs::path& path) {
  constexpr size_t longest_header = (1 << 20) + 12;
  const auto name = path.string();
  const auto header = io::parse_npy_beginning(beginning(path, longest_header), name);
  if (header.kind == 'c') input_error("{}: expected images of real numbers, found complex ones", name);
  const auto& shape = header.shape;
  if (shape.size() < 2 || shape.size() > 4 || std::count(shape.begin(), shape.end(), 0))
    input_error("{}: expected images [H, W], [C, H, W] or [N, C, H, W], found shape [{}]", name,
                fmt::join(shape, ", "));
  return shape.size() == 4 ? shape[0] : 1;
}

/// As UVFITS has them, in place of an image.
bool has_groups(const fs::path& path) {
  constexpr size_t block = 2880, value_column = 29;
  const auto header = beginning(path, block);
  const auto card = header.find("GROUPS  =");
  return card != header.npos && card + value_column < header.size() && header[card + value_column] == 'T';
}

std::optional<ImageFile> look_at(const fs::path& path, const std::string& name) {
  constexpr size_t png_header = 26, png_depth = 24;
  const auto bytes = beginning(path, png_header);
  const std::string_view content(bytes);
  ImageFile file{.path = path, .name = name, .size = fs::file_size(path)};
  if (content.starts_with("\x89PNG")) {
    file.bytes = bytes.size() <= png_depth || bytes[png_depth] != 16;
  } else if (content.starts_with(io::jpeg_magic)) {
    file.format = ImageFormat::jpeg;
  } else if (content.starts_with(io::npy_magic)) {
    file.format = ImageFormat::npy;
    file.bytes = false;
    file.images = images_in_array(path);
  } else if (io::looks_like_sky_image(content) && !has_groups(path)) {
    file.format = ImageFormat::sky;
    file.bytes = false;
  } else if (named_like_an_image(path)) {
    input_error("{}: named like an image, but it begins like none (PNG, JPEG, NPY, FITS or ehtim's text)",
                path.string());
  } else {
    return std::nullopt;
  }
  return file;
}

bool is_hidden(const fs::path& path) { return path.filename().string().starts_with("."); }

/// Every file's path; links to folders are named among the skipped.
std::vector<fs::path> all_files(const fs::path& folder, std::vector<std::string>& skipped) {
  std::vector<fs::path> paths;
  for (auto entry = fs::recursive_directory_iterator(folder); entry != fs::recursive_directory_iterator(); ++entry) {
    const auto& path = entry->path();
    if (is_hidden(path)) {
      if (entry->is_directory()) entry.disable_recursion_pending();
    } else if (entry->is_regular_file()) {
      paths.push_back(path);
    } else if (!entry->is_directory() || entry->is_symlink()) {
      skipped.push_back(path.lexically_relative(folder).generic_string());
    }
  }
  return paths;
}

}  // namespace

ImageFiles find_images(const fs::path& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) input_error("{}: expected a folder of images", folder.string());
  ImageFiles found;
  try {
    for (const auto& path : all_files(folder, found.skipped)) {
      const auto name = path.lexically_relative(folder).generic_string();
      if (auto file = look_at(path, name))
        found.files.push_back(std::move(*file));
      else
        found.skipped.push_back(name);
    }
  } catch (const fs::filesystem_error& refused) {
    input_error("{}: cannot be read: {}", refused.path1().string(), refused.code().message());
  }
  // The file system's order is no order.
  std::sort(found.files.begin(), found.files.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  std::sort(found.skipped.begin(), found.skipped.end());
  return found;
}

}  // namespace penumbra::training
