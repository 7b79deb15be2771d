#include "app/observation_info.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "core/error.h"
#include "vlbi/array_file.h"
#include "vlbi/averaging.h"
#include "vlbi/closures.h"
#include "vlbi/date.h"
#include "vlbi/load.h"
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
    if (std::hypot(row.u, row.v) < short_baseline && std::isfinite(std::abs(row.value)))
      amplitudes.push_back(std::abs(row.value));
  if (amplitudes.empty()) return nullptr;
  const auto middle = amplitudes.begin() + static_cast<ptrdiff_t>(amplitudes.size() / 2);
  std::nth_element(amplitudes.begin(), middle, amplitudes.end());
  return *middle;
}

json describe_rows(const vlbi::Observation& observation) {
  std::set<double> times;
  std::set<std::pair<int, int>> baselines;
  double longest = 0;
  for (const auto& row : observation.visibilities) {
    times.insert(row.time);
    baselines.emplace(row.first, row.second);
    longest = std::max(longest, std::hypot(row.u, row.v));
  }
  json info{{"stations", count_stations(observation)},
            {"baselines", baselines.size()},
            {"longest_baseline", longest},
            {"times", times.size()},
            {"visibilities", observation.visibilities.size()},
            {"short_baseline_flux_jy", short_baseline_flux(observation)}};
  if (!times.empty()) info["hours"] = {*times.begin(), *times.rbegin()};
  return info;
}

/// Those that are imaged by default, and what there is to know of phases: more, where a cycle of baselines is filled by
/// no triangles.
void add_closures(const vlbi::Observation& observation, json& info) {
  const auto closures = vlbi::form_closures(observation);
  info["closure_phases"] = closures.phases.size();
  info["closure_amplitudes"] = closures.amplitudes.size();
  info["independent_closure_phases"] = vlbi::independent_closures(observation).phases;
}

json describe_prepared(const vlbi::Observation& observation, const std::string& name) {
  const vlbi::Preparation usual;
  json info{
      {"min_baseline", usual.min_baseline}, {"systematic_noise", usual.systematic_noise}, {"min_snr", usual.min_snr}};
  try {
    const auto prepared = vlbi::prepare(observation, usual, name);
    info["visibilities"] = prepared.visibilities.size();
    add_closures(prepared, info);
  } catch (const InputError& error) {
    info["unusable"] = error.what();
  }
  return info;
}

/// An archive's rows are taken as they are: there is no preparation.
json describe_group(const fs::path& path, const std::string& group) {
  const auto observation = vlbi::read_npz_observation(path, group);
  auto info = describe_rows(observation);
  try {
    add_closures(observation, info);
  } catch (const InputError& error) {
    info["unusable"] = error.what();
  }
  return info;
}

}  // namespace

void add_direction(json& info, double right_ascension_hours, double declination_degrees) {
  if (right_ascension_hours >= 0 && right_ascension_hours <= 24)
    info["right_ascension_hours"] = right_ascension_hours;
  else
    info["right_ascension"] =
        fmt::format("unknown: expected 0 to 360 degrees in the header, found {:.10g}", right_ascension_hours * 15);
  if (std::abs(declination_degrees) <= 90)
    info["declination_degrees"] = declination_degrees;
  else
    info["declination"] =
        fmt::format("unknown: expected -90 to 90 degrees in the header, found {:.10g}", declination_degrees);
}

json describe_uvfits(std::span<const char> bytes, const std::string& name) {
  const auto observation = vlbi::parse_uvfits(bytes, name);
  auto info = describe_rows(observation);
  add_direction(info, observation.right_ascension, observation.declination);
  info["kind"] = "visibilities (UVFITS)";
  info["source"] = observation.source;
  info["date"] = vlbi::date_of(observation.mjd);
  info["frequency_hz"] = observation.frequency;
  info["bandwidth_hz"] = observation.bandwidth;
  info["scans"] = vlbi::scan_table(observation, vlbi::Preparation{}.scan_gap).size();
  info["dropped"] = observation.dropped;
  info["weightless"] = observation.weightless;
  info["malformed"] = observation.malformed;
  info["prepared"] = describe_prepared(observation, name);
  return info;
}

json describe_npz(const fs::path& path) {
  const auto groups = vlbi::npz_groups(path);
  if (groups.empty())
    input_error("{}: expected visibilities, arrays time, i1, i2, u, v, vis and sigma, found no vis", path.string());
  json info;
  for (const auto& group : groups)
    if (group.empty())
      info.update(describe_group(path, group));
    else
      info["groups"][group] = describe_group(path, group);
  info["kind"] = "visibilities (NPZ)";
  return info;
}

bool looks_like_array(const fs::path& path) {
  constexpr size_t enough_for_comments = 65536;
  std::string beginning(enough_for_comments, '\0');
  std::ifstream stream(path, std::ios::binary);
  stream.read(beginning.data(), static_cast<std::streamsize>(beginning.size()));
  beginning.resize(static_cast<size_t>(stream.gcount()));
  return vlbi::begins_with_station(beginning);
}

json describe_array_file(const fs::path& path) {
  auto stations = json::array();
  for (const auto& station : vlbi::read_array(path))
    stations.push_back({{"name", station.name},
                        {"position_metres", station.position},
                        {"sefd_jy", {station.sefd_right, station.sefd_left}}});
  return {{"kind", "array of stations"}, {"count", stations.size()}, {"stations", stations}};
}

}  // namespace penumbra::app
