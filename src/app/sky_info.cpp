#include "app/sky_info.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "core/error.h"
#include "io/file.h"
#include "io/fits_layout.h"
#include "io/fits_reader.h"
#include "io/sky_image.h"
#include "vlbi/averaging.h"
#include "vlbi/closures.h"
#include "vlbi/date.h"
#include "vlbi/uvfits.h"

namespace penumbra::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr double short_baseline = 1e8;  // wavelengths: two stations on one site

/// In the order of the file's table.
json count_stations(const vlbi::Observation& observation) {
  std::vector<int64_t> counts(observation.stations.size());
  for (const auto& row : observation.visibilities) {
    ++counts[static_cast<size_t>(row.first)];
    ++counts[static_cast<size_t>(row.second)];
  }
  auto stations = json::array();
  for (size_t i = 0; i < counts.size(); ++i) stations.push_back({observation.stations[i].name, counts[i]});
  return stations;
}

/// The flux that stations beside one another see, all of the source and what is around it; null without such stations.
json short_baseline_flux(const vlbi::Observation& observation) {
  std::vector<double> amplitudes;
  for (const auto& row : observation.visibilities)
    if (std::hypot(row.u, row.v) < short_baseline) amplitudes.push_back(std::abs(row.value));
  if (amplitudes.empty()) return nullptr;
  const auto middle = amplitudes.begin() + static_cast<ptrdiff_t>(amplitudes.size() / 2);
  std::nth_element(amplitudes.begin(), middle, amplitudes.end());
  return *middle;
}

json describe_prepared(const vlbi::Observation& observation, const std::string& name) {
  const vlbi::Preparation usual;
  json info{
      {"min_baseline", usual.min_baseline}, {"systematic_noise", usual.systematic_noise}, {"min_snr", usual.min_snr}};
  try {
    const auto prepared = vlbi::prepare(observation, usual, name);
    info["visibilities"] = prepared.visibilities.size();
    const auto counts = vlbi::independent_closures(prepared);
    info["closure_phases"] = counts.phases;
    info["closure_amplitudes"] = counts.amplitudes;
  } catch (const InputError& error) {
    info["unusable"] = error.what();
  }
  return info;
}

json describe_visibilities(const std::string& bytes, const std::string& name) {
  const auto observation = vlbi::parse_uvfits(bytes, name);
  std::set<double> times;
  std::set<std::pair<int, int>> baselines;
  double longest = 0;
  for (const auto& row : observation.visibilities) {
    times.insert(row.time);
    baselines.emplace(row.first, row.second);
    longest = std::max(longest, std::hypot(row.u, row.v));
  }
  return {{"kind", "visibilities (UVFITS)"},
          {"source", observation.source},
          {"right_ascension_hours", observation.right_ascension},
          {"declination_degrees", observation.declination},
          {"date", vlbi::date_of(observation.mjd)},
          {"hours", {*times.begin(), *times.rbegin()}},
          {"frequency_hz", observation.frequency},
          {"bandwidth_hz", observation.bandwidth},
          {"stations", count_stations(observation)},
          {"baselines", baselines.size()},
          {"longest_baseline", longest},
          {"times", times.size()},
          {"scans", vlbi::scan_table(observation, vlbi::Preparation{}.scan_gap).size()},
          {"visibilities", observation.visibilities.size()},
          {"dropped", observation.dropped},
          {"weightless", observation.weightless},
          {"short_baseline_flux_jy", short_baseline_flux(observation)},
          {"prepared", describe_prepared(observation, name)}};
}

bool holds_visibilities(const std::string& fits, const std::string& name) {
  return io::FitsReader(fits, name).text("GROUPS").value_or("F") == "T";
}

json describe_image(const std::string& bytes, const std::string& name) {
  const auto image = io::parse_sky_image(bytes, name);
  const double pixel = image.pixel_radians / io::radians_per_microarcsecond;
  return {{"kind", "image of the sky"},
          {"source", image.source},
          {"right_ascension_hours", image.right_ascension},
          {"declination_degrees", image.declination},
          {"frequency_hz", image.frequency},
          {"mjd", image.mjd},
          {"shape", image.pixels.sizes().vec()},
          {"pixel_uas", pixel},
          {"fov_uas", pixel * static_cast<double>(image.pixels.size(-1))},
          {"unit", image.unit},
          {"sum", image.pixels.sum().item<double>()},
          {"minimum", image.pixels.min().item<double>()},
          {"maximum", image.pixels.max().item<double>()}};
}

}  // namespace

bool looks_like_sky(const fs::path& path) {
  std::string head(16, '\0');
  std::ifstream stream(path, std::ios::binary);
  stream.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<size_t>(stream.gcount()));
  return io::looks_like_sky_image(head);
}

bool is_uvfits(const fs::path& path) {
  const auto bytes = io::read_file(path);
  return bytes.starts_with(io::fits_magic) && holds_visibilities(bytes, path.string());
}

json describe_sky(const fs::path& path) {
  const auto bytes = io::read_file(path);
  if (bytes.starts_with(io::fits_magic) && holds_visibilities(bytes, path.string()))
    return describe_visibilities(bytes, path.string());
  return describe_image(bytes, path.string());
}

}  // namespace penumbra::app
