#include "io/kspace.h"

#include <ATen/ATen.h>

#include "core/error.h"
#include "io/cfl.h"
#include "io/hdf5_kspace.h"
#include "io/npy.h"

namespace penumbra::io {
namespace {

namespace fs = std::filesystem;

void require_slice(int64_t slice, int64_t slices, const std::string& name) {
  if (slice < 0 || slice >= slices) input_error("{}: slice: expected 0 to {}, found {}", name, slices - 1, slice);
}

/// [H, W], [C, H, W] or [S, C, H, W].
Kspace slice_of(Tensor array, int64_t slice, const std::string& name) {
  if (!array.is_complex())
    input_error("{}: expected complex numbers, found {}", name, c10::toString(array.scalar_type()));
  if (array.dim() < 2 || array.dim() > 4 || array.numel() == 0)
    input_error("{}: expected k-space [H, W], [coils, H, W] or [slices, coils, H, W], found [{}]", name,
                describe(array.sizes()));
  while (array.dim() < 4) array = array.unsqueeze(0);
  require_slice(slice, array.size(0), name);
  Kspace kspace;
  kspace.slices = array.size(0);
  kspace.samples = array[slice].to(at::kComplexFloat).contiguous();
  return kspace;
}

/// The plane is what is left of READ, PHS1 and PHS2 when one of them is 1.
std::pair<size_t, size_t> plane_of(at::IntArrayRef sizes, const std::string& name) {
  if (sizes[cfl_phase_2] == 1) return {cfl_read, cfl_phase_1};
  if (sizes[cfl_phase_1] == 1) return {cfl_read, cfl_phase_2};
  if (sizes[cfl_read] == 1) return {cfl_phase_1, cfl_phase_2};
  input_error(
      "{}: expected the k-space of 2-D slices, where READ, PHS1 or PHS2 is 1, found a 3-D volume {}x{}x{}; transform "
      "it along its fully sampled dimension (bart fft -i) and take a slice (bart slice)",
      name, sizes[cfl_read], sizes[cfl_phase_1], sizes[cfl_phase_2]);
}

Kspace read_bart(const fs::path& path, int64_t slice) {
  const auto array = read_cfl(path);
  const auto name = path.string();
  const auto [row, column] = plane_of(array.sizes(), name);
  for (size_t d = cfl_coil + 1; d < cfl_dimensions; ++d)
    if (d != cfl_slice && array.size(static_cast<int64_t>(d)) != 1)
      input_error("{}: {}: expected 1, found {}; take one (bart slice {} 0)", name,
                  name_of(static_cast<CflDimension>(d)), array.size(static_cast<int64_t>(d)), d);
  std::vector<int64_t> order{cfl_slice, cfl_coil, static_cast<int64_t>(row), static_cast<int64_t>(column)};
  for (int64_t d = 0; d < static_cast<int64_t>(cfl_dimensions); ++d)
    if (std::find(order.begin(), order.end(), d) == order.end()) order.push_back(d);
  auto kspace = slice_of(array.permute(order).flatten(3), slice, name);
  kspace.format = "bart";
  return kspace;
}

Kspace read_array(const fs::path& path, int64_t slice) {
  auto kspace = slice_of(read_npy(path), slice, path.string());
  kspace.format = "npy";
  return kspace;
}

Kspace read_any(const fs::path& path, int64_t slice) {
  if (looks_like_cfl(path)) return read_bart(path, slice);
  if (looks_like_hdf5(path)) return read_hdf5_kspace(path, slice);
  if (path.extension() == ".npy") return read_array(path, slice);
  if (!fs::exists(path)) input_error("{}: no such file", path.string());
  input_error("{}: expected k-space as NPY (.npy), BART (.cfl and .hdr), fastMRI HDF5 or ISMRMRD HDF5", path.string());
}

/// Refuses what is not finite, as complex64.
void require_finite(const Tensor& samples, const char* what, const std::string& name) {
  const auto wrong = at::view_as_real(samples).isfinite().logical_not().any(-1);
  if (!wrong.any().item<bool>()) return;
  const auto at = wrong.nonzero()[0];
  std::string place;
  for (int64_t d = 0; d < at.size(0); ++d) place += fmt::format("{}{}", d ? ", " : "", at[d].item<int64_t>());
  input_error("{}: {}: expected finite numbers, found NaN or infinity {} times, first at [{}]", name, what,
              wrong.sum().item<int64_t>(), place);
}

}  // namespace

Kspace read_kspace(const fs::path& path, int64_t slice) {
  auto kspace = read_any(path, slice);
  const auto name = path.string();
  require_finite(kspace.samples, "k-space [coil, row, column]", name);
  if (kspace.noise.defined()) require_finite(kspace.noise, "noise scan [coil, sample]", name);
  const auto measured = kspace.samples.ne(0).any(0);
  if (!measured.any().item<bool>()) input_error("{}: k-space: expected samples, found zeros alone", name);
  if (!kspace.mask.defined()) kspace.mask = measured;
  kspace.samples = kspace.samples * kspace.mask;
  return kspace;
}

fs::path kspace_file(Settings& settings, const std::string& key) {
  const auto path = settings.file(key);
  if (const auto other = other_of_pair(path); looks_like_cfl(path) && fs::exists(other)) settings.note_file(other);
  return path;
}

Tensor read_complex(const fs::path& path) {
  const auto name = path.string();
  Tensor array;
  if (looks_like_cfl(path)) {
    const auto stored = read_cfl(path);
    std::vector<int64_t> order;
    for (auto d = static_cast<int64_t>(cfl_dimensions); d-- > static_cast<int64_t>(cfl_coil);) order.push_back(d);
    order.insert(order.end(), {cfl_read, cfl_phase_1, cfl_phase_2});
    array = stored.permute(order);
  } else {
    array = read_npy(path);
  }
  array = array.to(at::kComplexFloat).squeeze().contiguous();
  require_finite(array, "array", name);
  return array;
}

}  // namespace penumbra::io
