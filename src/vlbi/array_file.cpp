#include "vlbi/array_file.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "core/nearest.h"
#include "io/file.h"

namespace penumbra::vlbi {
namespace {

/// Nothing where the text is no finite number. from_chars knows no leading plus; "+-1" must not pass for it.
std::optional<double> finite_number(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

double number(const std::string& text, const std::string& where) {
  const auto value = finite_number(text);
  if (!value) input_error("{}: expected a number, found {}", where, excerpt(text));
  return *value;
}

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line.substr(0, line.find('#')));
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

Station parse_station(const std::vector<std::string>& words, const std::string& where) {
  if (words.size() < 5)
    input_error("{}: expected a name, x, y, z in metres and an SEFD in Jy, found {} words", where, words.size());
  Station station;
  station.name = words[0];
  if (!std::all_of(station.name.begin(), station.name.end(), [](char c) { return c > ' ' && c <= '~'; }))
    input_error("{}: name: expected printable ASCII, as FITS files hold it, found {}", where, excerpt(words[0]));
  for (size_t axis = 0; axis < 3; ++axis)
    station.position[axis] = number(words[axis + 1], where + ": " + std::string(1, "xyz"[axis]));
  station.sefd_right = number(words[4], where + ": SEFD");
  station.sefd_left = words.size() > 5 ? number(words[5], where + ": left SEFD") : station.sefd_right;
  if (!(station.sefd_right >= 0 && station.sefd_left >= 0)) input_error("{}: SEFD: expected >= 0", where);
  return station;
}

const std::vector<std::pair<std::string, std::vector<Station>>>& arrays() {
  // Positions as the data of the 2017 campaign have them, SEFDs of ehtim's EHT2017_m87; geocentric metres, Jy.
  static const std::vector<Station> eht2017{{"ALMA", {2225060.8136, -5440059.59994, -2481681.15054}, 70, 70},
                                            {"APEX", {2225039.5297, -5441197.6292, -2479303.3597}, 4900, 4900},
                                            {"SMT", {-1828796.2, -5054406.8, 3427865.2}, 14400, 14400},
                                            {"JCMT", {-5464584.676, -2493001.17, 2150653.982}, 10000, 10000},
                                            {"LMT", {-768715.632, -5988507.072, 2063354.852}, 3600, 3600},
                                            {"PV", {5088967.74544, -301681.18586, 3825012.20561}, 3600, 3600},
                                            {"SMA", {-5464555.493, -2492927.989, 2150797.176}, 5600, 6500},
                                            {"SPT", {0.01, 0.01, -6359609.7}, 16900, 16900}};
  static const std::vector<Station> eht9{{"SMA", {-5464523.4, -2493147.08, 2150611.75}, 4000, 4000},
                                         {"JCMT", {-5464584.676, -2493001.17, 2150653.982}, 4700, 4700},
                                         {"SMT", {-1828796.2, -5054406.8, 3427865.2}, 11000, 11000},
                                         {"LMT", {-768713.9637, -5988541.7982, 2063275.9472}, 1400, 1400},
                                         {"ALMA", {2225037.1851, -5441199.162, -2479303.4629}, 100, 100},
                                         {"APEX", {2225037.1851, -5441199.162, -2479303.4629}, 3600, 3600},
                                         {"PV", {5088967.9, -301681.6, 3825015.8}, 1400, 1400},
                                         {"PDB", {4523998.4, 468045.24, 4460309.76}, 5200, 5200},
                                         {"SPT", {0, 0, -6359587.3}, 9000, 9000}};
  static const std::vector<std::pair<std::string, std::vector<Station>>> all{{"EHT2017", eht2017}, {"EHT9", eht9}};
  return all;
}

}  // namespace

std::vector<Station> read_array(const std::filesystem::path& path) {
  return parse_array(io::read_file(path), path.string());
}

std::vector<Station> parse_array(const std::string& text, const std::string& name) {
  std::vector<Station> stations;
  std::set<std::string> names;
  std::istringstream stream(text);
  int count = 0;
  for (std::string line; std::getline(stream, line);) {
    const auto where = fmt::format("{}:{}", name, ++count);
    const auto words = words_of(line);
    if (words.empty()) continue;
    stations.push_back(parse_station(words, where));
    if (!names.insert(words[0]).second)
      input_error("{}: name: expected each station once, found {} again", where, excerpt(words[0]));
  }
  if (stations.size() < 2) input_error("{}: expected at least two stations, found {}", name, stations.size());
  return stations;
}

bool begins_with_station(const std::string& text) {
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    if (const auto words = words_of(line); !words.empty())
      return words.size() >= 5 && std::all_of(words.begin() + 1, words.begin() + 5, finite_number);
  return false;
}

std::optional<std::vector<Station>> known_array(const std::string& name) {
  for (const auto& [known, stations] : arrays())
    if (known == name) return stations;
  return std::nullopt;
}

std::vector<std::string> known_arrays() {
  std::vector<std::string> names;
  for (const auto& [name, stations] : arrays()) names.push_back(name);
  return names;
}

}  // namespace penumbra::vlbi
