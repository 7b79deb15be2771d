#include "vlbi/load.h"

#include <ATen/ATen.h>

#include <fstream>

#include "core/error.h"
#include "io/fits_layout.h"
#include "io/npy.h"
#include "vlbi/averaging.h"
#include "vlbi/uvfits.h"

namespace penumbra::vlbi {
namespace {

/// The content decides, not the name.
bool is_fits(const std::filesystem::path& path) {
  std::string head(io::fits_magic.size(), '\0');
  std::ifstream(path, std::ios::binary).read(head.data(), static_cast<std::streamsize>(head.size()));
  return head == io::fits_magic;
}

Observation read_raw(const std::filesystem::path& path) {
  if (is_fits(path)) return read_uvfits(path);
  input_error("{}: expected visibilities as UVFITS or NPZ (.npz), found another kind of file", path.string());
}

/// Prepared by who made it.
bool is_archive(const std::filesystem::path& path) { return path.extension() == ".npz"; }

/// Complex [m] or [1, m], in the order of the observation.
void replace_values(Observation& observation, const std::filesystem::path& path) {
  const auto values = io::read_npy(path);
  const auto m = static_cast<int64_t>(observation.visibilities.size());
  const bool fits = values.numel() == m && (values.dim() == 1 || (values.dim() == 2 && values.size(0) == 1));
  if (!values.is_complex() || !fits)
    input_error("{}: expected {} complex visibilities, found {} of {}", path.string(), m, describe(values.sizes()),
                c10::toString(values.scalar_type()));
  const auto exact = values.to(at::kComplexDouble).flatten().contiguous();
  const auto* z = exact.data_ptr<c10::complex<double>>();
  for (auto& row : observation.visibilities) {
    row.value = {z->real(), z->imag()};
    ++z;
  }
}

}  // namespace

Observation load_observation(Settings& settings, Wanted wanted) {
  if (!settings.is_section("data")) {
    const auto path = settings.file("data");
    auto observation = is_archive(path) ? read_npz_observation(path, "") : prepare(read_raw(path), {}, path.string());
    observation.name = path.string();
    return observation;
  }
  auto data = settings.section("data");
  const auto path = data.file("file");
  auto observation = is_archive(path) ? read_npz_observation(path, data.has("group") ? data.text("group") : "")
                                      : prepare(read_raw(path), preparation_setting(data), path.string());
  observation.name = path.string();
  if (wanted == Wanted::coverage)
    data.ignore("values");
  else if (data.has("values"))
    replace_values(observation, data.file("values"));
  return observation;
}

}  // namespace penumbra::vlbi
