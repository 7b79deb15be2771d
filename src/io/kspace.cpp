#include "io/kspace.h"

#include <ATen/ATen.h>

#include <cstring>
#include <sstream>

#include "core/error.h"
#include "io/file.h"
#include "io/npy.h"

namespace penumbra::io {
namespace {

namespace fs = std::filesystem;

/// The numbers of the line after "# Dimensions", the fastest first.
std::vector<int64_t> bart_dimensions(const fs::path& path) {
  std::istringstream lines(read_file(path));
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("# Dimensions", 0) != 0) continue;
    std::getline(lines, line);
    std::istringstream numbers(line);
    std::vector<int64_t> dimensions;
    for (int64_t extent; numbers >> extent;) {
      if (extent < 1 || extent > 65536)
        input_error("{}: Dimensions: expected numbers from 1 to 65536, found {}", path.string(), extent);
      dimensions.push_back(extent);
    }
    if (!dimensions.empty()) return dimensions;
  }
  input_error("{}: expected a line '# Dimensions' and numbers below it", path.string());
}

/// The dimensions in BART's order: [READ, PHS1, PHS2, COIL, ...], those of extent one dropped.
Tensor read_bart(fs::path path) {
  const auto dimensions = bart_dimensions(path.replace_extension(".hdr"));
  const auto bytes = read_file(path.replace_extension(".cfl"));
  double count = 1;
  for (const auto extent : dimensions) count *= static_cast<double>(extent);
  if (count * 8 != static_cast<double>(bytes.size()))
    input_error("{}: expected {} bytes for {}, found {}", path.string(), count * 8, describe(dimensions), bytes.size());
  std::vector<int64_t> shape;
  for (const auto extent : dimensions)
    if (extent > 1) shape.insert(shape.begin(), extent);
  auto array = at::empty(shape, at::TensorOptions().dtype(at::kComplexFloat));
  std::memcpy(array.data_ptr(), bytes.data(), bytes.size());
  return array.permute([&] {
    std::vector<int64_t> reversed;
    for (int64_t i = array.dim(); i-- > 0;) reversed.push_back(i);
    return reversed;
  }());
}

bool is_bart(const fs::path& path) { return path.extension() == ".cfl" || path.extension() == ".hdr"; }

}  // namespace

Kspace read_kspace(const fs::path& path, int64_t slice) {
  Kspace kspace;
  auto samples = is_bart(path) ? read_bart(path) : read_npy(path);
  if (is_bart(path) && samples.dim() == 3) samples = samples.permute({2, 0, 1});
  kspace.format = is_bart(path) ? "bart" : "npy";
  if (samples.dim() < 2 || samples.dim() > 4)
    input_error("{}: expected [H, W], [coils, H, W] or [slices, coils, H, W], found {}", path.string(),
                describe(samples.sizes()));
  if (samples.dim() == 4) kspace.slices = samples.size(0);
  if (slice < 0 || slice >= kspace.slices)
    input_error("{}: slice: expected 0 to {}, found {}", path.string(), kspace.slices - 1, slice);
  if (samples.dim() == 4) samples = samples[slice];
  if (samples.dim() == 2) samples = samples.unsqueeze(0);
  if (!at::isfinite(samples).all().item<bool>())
    input_error("{}: expected finite numbers, found NaN or infinity", path.string());
  kspace.samples = samples.to(at::kComplexFloat).contiguous();
  kspace.mask = kspace.samples.ne(0).any(0);
  return kspace;
}

Tensor read_complex(const fs::path& path) {
  if (is_bart(path)) return read_bart(path).contiguous();
  return read_npy(path).to(at::kComplexFloat).squeeze();
}

}  // namespace penumbra::io
