#include "vlbi/flagging.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>

#include "core/error.h"
#include "core/nearest.h"

namespace penumbra::vlbi {
namespace {

using Baseline = std::pair<std::string, std::string>;

/// The one name of a baseline that has two.
Baseline ordered(const std::string& a, const std::string& b) { return {std::min(a, b), std::max(a, b)}; }

/// A station's name may hold a hyphen itself.
std::optional<Baseline> baseline_of(const std::string& text, const std::vector<std::string>& stations) {
  const auto known = [&](const std::string& station) {
    return std::find(stations.begin(), stations.end(), station) != stations.end();
  };
  for (auto hyphen = text.find('-'); hyphen != text.npos; hyphen = text.find('-', hyphen + 1)) {
    const auto first = text.substr(0, hyphen), second = text.substr(hyphen + 1);
    if (known(first) && known(second) && first != second) return ordered(first, second);
  }
  return std::nullopt;
}

std::vector<std::string> station_names(const Observation& observation) {
  std::vector<std::string> names;
  for (const auto& station : observation.stations) names.push_back(station.name);
  return names;
}

}  // namespace

std::string Flags::keys() const {
  std::vector<std::string> given;
  if (!stations.empty()) given.emplace_back("flag.stations");
  if (!baselines.empty()) given.emplace_back("flag.baselines");
  if (!hours.empty()) given.emplace_back("flag.hours");
  return fmt::format("{}", fmt::join(given, ", "));
}

Flags flags_setting(Settings& settings) {
  return {settings.texts("stations"), settings.texts("baselines"), settings.intervals("hours")};
}

std::vector<Visibility> unflagged(const Observation& observation, const Flags& flags, const std::string& name) {
  const auto names = station_names(observation);
  for (const auto& station : flags.stations)
    if (std::find(names.begin(), names.end(), station) == names.end())
      input_error("{}: flag.stations: expected stations of {}, found {}{}", name, fmt::join(names, ", "),
                  excerpt(station), suggestion(station, names));
  std::set<Baseline> baselines;
  for (const auto& text : flags.baselines) {
    const auto baseline = baseline_of(text, names);
    if (!baseline)
      input_error("{}: flag.baselines: expected two stations of {} with a hyphen between them, found {}", name,
                  fmt::join(names, ", "), excerpt(text));
    baselines.insert(*baseline);
  }
  const std::set<std::string> stations(flags.stations.begin(), flags.stations.end());
  auto rows = observation.visibilities;
  std::erase_if(rows, [&](const Visibility& row) {
    const auto &first = names[static_cast<size_t>(row.first)], &second = names[static_cast<size_t>(row.second)];
    return stations.contains(first) || stations.contains(second) || baselines.contains(ordered(first, second)) ||
           std::any_of(flags.hours.begin(), flags.hours.end(),
                       [&](const auto& interval) { return row.time >= interval.first && row.time <= interval.second; });
  });
  if (rows.empty())
    input_error("{}: {}: expected some visibilities without a flag, found none of {}", name, flags.keys(),
                observation.visibilities.size());
  return rows;
}

}  // namespace penumbra::vlbi
