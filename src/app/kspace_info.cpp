#include "app/kspace_info.h"

#include <ATen/ATen.h>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "io/cfl.h"
#include "io/hdf5_kspace.h"
#include "models/sampling_mask.h"

namespace penumbra::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

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
  const auto [rows, columns] = sampled_centre(kspace.mask);
  const auto acquired = kspace.mask.sum().item<int64_t>();
  json info{
      {"coils", kspace.samples.size(0)},
      {"slices", kspace.slices},
      {"acquired", acquired},
      {"acceleration", static_cast<double>(kspace.mask.numel()) / static_cast<double>(std::max<int64_t>(acquired, 1))},
      {"fully_sampled_centre", {rows, columns}}};
  if (kspace.averages.defined()) info["averages"] = kspace.averages.max().item<int64_t>();
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
