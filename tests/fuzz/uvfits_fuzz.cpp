// Any bytes are an observation in order, with finite numbers, or an InputError; what was read is written and read back.
// The same bytes are an image, or an InputError.
#include <cmath>
#include <cstdlib>
#include <tuple>

#include "core/error.h"
#include "io/fits_reader.h"
#include "vlbi/uvfits.h"

namespace {

using namespace penumbra;

void check(const vlbi::Observation& observation) {
  const auto stations = static_cast<int>(observation.stations.size());
  const vlbi::Visibility* before = nullptr;
  for (const auto& row : observation.visibilities) {
    if (row.first < 0 || row.first >= row.second || row.second >= stations) std::abort();
    if (!std::isfinite(std::abs(row.value)) && std::isfinite(row.value.real())) continue;  // the root overflows
    if (!(row.sd > 0) || !std::isfinite(row.time) || !std::isfinite(row.u) || !std::isfinite(row.v)) std::abort();
    if (before != nullptr &&
        std::tie(before->time, before->first, before->second) > std::tie(row.time, row.first, row.second))
      std::abort();
    before = &row;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span bytes(reinterpret_cast<const char*>(data), size);
  try {
    const io::FitsReader file(bytes, "fuzz.fits");
    int64_t count = 1;
    for (const auto side : file.axes()) count *= side;
    if (static_cast<int64_t>(file.pixels().size()) != count) std::abort();
  } catch (const InputError&) {
  }
  try {
    const auto observation = vlbi::parse_uvfits(bytes, "fuzz.uvfits");
    check(observation);
    // Weights and values that a float cannot hold are dropped again, so the rows may be fewer.
    check(vlbi::parse_uvfits(vlbi::format_uvfits(observation, "written.uvfits"), "written.uvfits"));
  } catch (const InputError&) {
  }
  return 0;
}
