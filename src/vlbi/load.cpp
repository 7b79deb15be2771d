#include "vlbi/load.h"

#include <ATen/ATen.h>

#include "core/error.h"
#include "io/npy.h"

namespace penumbra::vlbi {
namespace {

Observation read_file(const std::filesystem::path& path, const std::string& group) {
  if (path.extension() == ".npz") return read_npz_observation(path, group);
  input_error("{}: expected an NPZ file of visibilities (.npz), found {}; UVFITS cannot be read by this build",
              path.string(), path.extension().string());
}

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
  if (!settings.is_section("data")) return read_file(settings.file("data"), "");
  auto data = settings.section("data");
  auto observation = read_file(data.file("file"), data.has("group") ? data.text("group") : "");
  if (wanted == Wanted::coverage)
    data.ignore("values");
  else if (data.has("values"))
    replace_values(observation, data.file("values"));
  return observation;
}

}  // namespace penumbra::vlbi
