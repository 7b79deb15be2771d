#include "io/cfl.h"

#include <ATen/ATen.h>

#include <bit>
#include <cstring>
#include <stdexcept>

#include "core/error.h"
#include "io/file.h"

namespace penumbra::io {
namespace {

namespace fs = std::filesystem;

static_assert(std::endian::native == std::endian::little, "numbers are copied in the machine's byte order");

bool has_cfl_extension(const fs::path& path) { return path.extension() == ".cfl" || path.extension() == ".hdr"; }

/// Appends rather than replaces: a stem may have dots of its own.
fs::path with_extension(const fs::path& path, const char* extension) {
  auto full = has_cfl_extension(path) ? fs::path(path).replace_extension() : path;
  return full += extension;
}

/// The other of the two is named first: a user who gave one of them has it.
void require_pair(const fs::path& header, const fs::path& data) {
  std::error_code ignored;
  for (const auto& [missing, there] : {std::pair{header, data}, std::pair{data, header}})
    if (!fs::exists(missing, ignored) && fs::exists(there, ignored))
      input_error("{}: no such file; BART keeps an array in two, and {} is there", missing.string(),
                  there.filename().string());
}

}  // namespace

bool looks_like_cfl(const fs::path& path) {
  std::error_code ignored;
  return has_cfl_extension(path) || (!fs::exists(path, ignored) && fs::exists(with_extension(path, ".hdr"), ignored));
}

fs::path other_of_pair(const fs::path& path) {
  return with_extension(path, path.extension() == ".cfl" ? ".hdr" : ".cfl");
}

Tensor read_cfl(const fs::path& path) {
  const auto header = with_extension(path, ".hdr"), data = with_extension(path, ".cfl");
  require_pair(header, data);
  const auto sizes = parse_cfl_header(read_file(header), header.string());
  std::error_code error;
  const auto on_disk = fs::file_size(data, error);
  if (!error) check_cfl_size(sizes, on_disk, data.string());  // before the file is read
  const auto bytes = read_file(data);
  check_cfl_size(sizes, bytes.size(), data.string());
  // Column-major is row-major with the dimensions reversed.
  auto array = at::empty(std::vector<int64_t>(sizes.rbegin(), sizes.rend()), at::kComplexFloat);
  std::memcpy(array.data_ptr(), bytes.data(), bytes.size());
  std::vector<int64_t> reversed(cfl_dimensions);
  for (size_t i = 0; i < reversed.size(); ++i) reversed[i] = static_cast<int64_t>(cfl_dimensions - 1 - i);
  return array.permute(reversed);
}

void write_cfl(const fs::path& path, const Tensor& array, const std::vector<CflDimension>& leading) {
  if (array.dim() != static_cast<int64_t>(leading.size()) + 2)
    throw std::invalid_argument("write_cfl: expected a name for each leading dimension of " + describe(array.sizes()));
  auto places = leading;
  places.insert(places.end(), {cfl_read, cfl_phase_1});
  // From the slowest to the fastest in memory: the highest of BART's dimensions to the lowest.
  std::vector<int64_t> sizes(cfl_dimensions, 1), order;
  for (size_t place = cfl_dimensions; place-- > 0;)
    for (size_t i = 0; i < places.size(); ++i)
      if (places[i] == place) {
        order.push_back(static_cast<int64_t>(i));
        sizes[place] = array.size(static_cast<int64_t>(i));
      }
  const auto stored = array.detach().resolve_conj().to(at::kCPU, at::kComplexFloat).permute(order).contiguous();
  const auto header = with_extension(path, ".hdr");
  std::error_code ignored;
  fs::remove(header, ignored);  // an older header must not describe the new data
  write_file(with_extension(path, ".cfl"), {static_cast<const char*>(stored.data_ptr()), stored.nbytes()});
  write_file(header, format_cfl_header(sizes));
}

}  // namespace penumbra::io
