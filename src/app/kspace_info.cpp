#include "app/kspace_info.h"

#include <ATen/ATen.h>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "io/cfl.h"
#include "io/hdf5_kspace.h"

namespace penumbra::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// How many elements around the middle one are true without a gap, from the first to the last of them.
int64_t run_through_middle(const Tensor& flags) {
  const auto middle = flags.size(0) / 2;
  const auto is_set = [&](int64_t i) { return i >= 0 && i < flags.size(0) && flags[i].item<bool>(); };
  if (!is_set(middle)) return 0;
  auto first = middle, past = middle + 1;
  while (is_set(first - 1)) --first;
  while (is_set(past)) ++past;
  return past - first;
}

int64_t centred_square(const Tensor& mask) {
  const auto shorter = std::min(mask.size(0), mask.size(1));
  for (int64_t side = 1; side <= shorter; ++side) {
    const auto square = mask.narrow(0, mask.size(0) / 2 - side / 2, side).narrow(1, mask.size(1) / 2 - side / 2, side);
    if (!square.all().item<bool>()) return side - 1;
  }
  return shorter;
}

/// [rows, columns] around the zero frequency: of whole columns or rows where there are any, else a square.
std::vector<int64_t> fully_sampled_centre(const Tensor& mask) {
  const auto columns = run_through_middle(mask.all(0)), rows = run_through_middle(mask.all(1));
  if (columns > 0) return {mask.size(0), columns};
  if (rows > 0) return {rows, mask.size(1)};
  const auto side = centred_square(mask);
  return {side, side};
}

std::string kind_of(const std::string& format) {
  if (format == "bart") return "k-space (BART)";
  return format == "fastmri" ? "k-space (fastMRI HDF5)" : "k-space (ISMRMRD HDF5)";
}

/// Maps, images and whatever else BART keeps in its files.
json describe_other(const fs::path& path, const std::string& why) {
  const auto array = io::read_cfl(path);
  return {{"kind", "array (BART)"}, {"sizes", array.sizes().vec()}, {"no_kspace_of_a_slice", why}};
}

}  // namespace

bool looks_like_scan(const fs::path& path) { return io::looks_like_cfl(path) || io::looks_like_hdf5(path); }

json describe_kspace(const io::Kspace& kspace) {
  const auto acquired = kspace.mask.sum().item<int64_t>();
  json info{
      {"coils", kspace.samples.size(0)},
      {"slices", kspace.slices},
      {"acquired", acquired},
      {"acceleration", static_cast<double>(kspace.mask.numel()) / static_cast<double>(std::max<int64_t>(acquired, 1))},
      {"fully_sampled_centre", fully_sampled_centre(kspace.mask)}};
  if (kspace.noise.defined()) info["noise_samples"] = kspace.noise.size(1);
  return info;
}

json describe_scan(const fs::path& path) {
  io::Kspace kspace;
  try {
    kspace = io::read_kspace(path);
  } catch (const InputError& error) {
    if (!io::looks_like_cfl(path)) throw;
    return describe_other(path, error.what());
  }
  auto info = describe_kspace(kspace);
  info["kind"] = kind_of(kspace.format);
  info["shape"] = kspace.samples.sizes().vec();
  info["largest_magnitude"] = kspace.samples.abs().max().item<double>();
  if (io::looks_like_cfl(path)) return info;
  info["notes"] = json::object();
  for (const auto& [name, text] : io::read_hdf5_notes(path)) info["notes"][name] = text;
  return info;
}

}  // namespace penumbra::app
