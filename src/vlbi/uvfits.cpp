#include "vlbi/uvfits.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

#include "core/error.h"
#include "core/nearest.h"
#include "io/file.h"
#include "io/fits_reader.h"
#include "vlbi/sidereal.h"
#include "vlbi/uvfits_axes.h"

namespace penumbra::vlbi {
namespace {

/// Between the two places that say the frequency: u and v scale with it.
constexpr double most_difference = 0.1;

/// The stations, and by what number the baselines call them.
struct Antennas {
  std::vector<Station> stations;
  std::map<int64_t, int> index;
  double frequency = 0;  ///< Hz; 0 where the table does not say
};

Antennas read_antennas(io::FitsReader& file) {
  constexpr const char* table = "AIPS AN";
  if (!file.find_table(table)) input_error("{}: expected a table {} with the stations, found none", file.name(), table);
  const auto names = file.texts("ANNAME");
  const auto positions = file.numbers("STABXYZ", 3), numbers = file.numbers("NOSTA", 1);
  const auto sefds = file.has_column("SEFD") ? file.numbers("SEFD", 1) : std::vector<double>(names.size());
  const auto centre = std::array{file.number("ARRAYX").value_or(0), file.number("ARRAYY").value_or(0),
                                 file.number("ARRAYZ").value_or(0)};
  if (names.size() < 2)
    input_error("{}: {}: expected at least two stations, found {}", file.name(), table, names.size());
  Antennas antennas;
  antennas.frequency = file.number("FREQ").value_or(0);
  for (size_t i = 0; i < names.size(); ++i) {
    Station station{names[i], {}, sefds[i], sefds[i]};
    for (size_t axis = 0; axis < 3; ++axis) station.position[axis] = positions[3 * i + axis] + centre[axis];
    if (!std::all_of(station.position.begin(), station.position.end(), [](double x) { return std::isfinite(x); }))
      input_error("{}: {}: STABXYZ: expected finite metres for station {}", file.name(), table, excerpt(names[i]));
    if (!(numbers[i] >= 1 && numbers[i] <= 65535))
      input_error("{}: {}: NOSTA: expected 1 to 65535 for station {}, found {}", file.name(), table, excerpt(names[i]),
                  numbers[i]);
    if (!antennas.index.emplace(static_cast<int64_t>(numbers[i]), static_cast<int>(i)).second)
      input_error("{}: {}: NOSTA: expected a number for each station, found {} twice", file.name(), table, numbers[i]);
    antennas.stations.push_back(std::move(station));
  }
  return antennas;
}

/// Hz from the reference frequency to the mean of the IFs.
double mean_band_offset(io::FitsReader& file, int64_t bands) {
  if (bands == 1) return 0;
  constexpr const char* table = "AIPS FQ";
  if (!file.find_table(table))
    input_error("{}: expected a table {} with the frequencies of {} IFs, found none", file.name(), table, bands);
  const auto offsets = file.numbers("IF FREQ", bands);
  if (static_cast<int64_t>(offsets.size()) != bands)
    input_error("{}: {}: IF FREQ: expected one row of {} frequencies, found {}", file.name(), table, bands,
                offsets.size());
  double sum = 0;
  for (const double offset : offsets) sum += offset;
  return sum / static_cast<double>(bands);
}

/// The two ends of a baseline's number: 256 a + b, or 65536 + 2048 a + b where there are more than 255 stations.
std::pair<int64_t, int64_t> ends_of(double baseline) {
  const auto number = static_cast<int64_t>(std::floor(baseline));
  if (number > 65536) return {(number - 65536) / 2048, (number - 65536) % 2048};
  return {number / 256, number % 256};
}

struct Sample {
  std::complex<double> value;
  double weight = 0;  ///< 0: nothing was measured
};

/// One hand's mean over channels and IFs.
Sample mean_sample(const double* values, const UvfitsAxes& axes, int64_t hand) {
  Sample mean;
  for (int64_t channel = 0; channel < axes.channel.size; ++channel)
    for (int64_t band = 0; band < axes.band.size; ++band) {
      const auto* at = values + hand * axes.stokes.stride + channel * axes.channel.stride + band * axes.band.stride;
      const double weight = at[2];
      if (!(weight > 0) || !std::isfinite(weight) || !std::isfinite(at[0]) || !std::isfinite(at[1])) continue;
      mean.value += weight * std::complex(at[0], at[1]);
      mean.weight += weight;
    }
  if (mean.weight > 0) mean.value /= mean.weight;
  return mean;
}

/// Stokes I and its standard deviation from the good hands; false where there is none.
bool read_total(const double* values, const UvfitsAxes& axes, Visibility& row) {
  double variance = 0, count = 0;
  row.value = 0;
  for (const auto hand : axes.hands) {
    const auto sample = mean_sample(values, axes, hand);
    if (sample.weight <= 0) continue;
    row.value += sample.value;
    variance += 1 / sample.weight;
    ++count;
  }
  if (count == 0) return false;
  row.value /= count;
  row.sd = std::sqrt(variance) / count;
  return std::isfinite(row.value.real()) && std::isfinite(row.value.imag()) && std::isfinite(row.sd) && row.sd > 0;
}

/// Why a row of the file is no visibility.
enum class Fault { autocorrelation, baseline, coordinates, date, seconds, weight, count };

/// What a file has that consists of such rows.
constexpr std::array<const char*, static_cast<size_t>(Fault::count)> fault_texts{
    "BASELINE: expected baselines of two stations, found one station with itself",
    "BASELINE: expected numbers of baselines, 256 a + b",
    "UU, VV: expected finite seconds",
    "DATE: expected Julian days",
    "INTTIM: expected finite seconds",
    "expected visibilities with weights > 0, found none"};

class GroupReader {
 public:
  GroupReader(const io::FitsReader& file, const Antennas& antennas, const UvfitsAxes& axes,
              const UvfitsParameters& parameters)
      : file_(file), antennas_(antennas), axes_(axes), parameters_(parameters) {}

  /// The row with its time in days since MJD 0; nothing where it is flagged.
  std::optional<Visibility> operator()(const double* parameters, const double* values, double frequency) {
    Visibility row;
    const double baseline = parameters_.baseline(parameters);
    if (!(baseline >= 256 && baseline < 1e8)) return without(Fault::baseline);
    const auto [first, second] = ends_of(baseline);
    row.first = station(first);
    row.second = station(second);
    if (row.first == row.second) return without(Fault::autocorrelation);
    row.u = parameters_.u(parameters) * frequency;
    row.v = parameters_.v(parameters) * frequency;
    if (!std::isfinite(row.u) || !std::isfinite(row.v)) return without(Fault::coordinates);
    row.time = parameters_.date(parameters) - mjd_zero;
    if (!(std::abs(row.time) < 1e6)) return without(Fault::date);
    row.seconds = parameters_.seconds(parameters);
    if (!std::isfinite(row.seconds)) return without(Fault::seconds);
    if (!read_total(values, axes_, row)) return without(Fault::weight);
    if (row.first > row.second) {
      std::swap(row.first, row.second);
      row.u = -row.u;
      row.v = -row.v;
      row.value = std::conj(row.value);
    }
    return row;
  }

  int64_t count(Fault fault) const { return faults_[static_cast<size_t>(fault)]; }
  int64_t malformed() const {
    return count(Fault::baseline) + count(Fault::coordinates) + count(Fault::date) + count(Fault::seconds);
  }
  /// What is the matter with most rows.
  std::string commonest(int64_t rows) const {
    const auto most = std::max_element(faults_.begin(), faults_.end());
    return fmt::format("{} in {} of {} rows", fault_texts[static_cast<size_t>(most - faults_.begin())], *most, rows);
  }

 private:
  std::optional<Visibility> without(Fault fault) {
    ++faults_[static_cast<size_t>(fault)];
    return std::nullopt;
  }

  int station(int64_t number) const {
    const auto at = antennas_.index.find(number);
    if (at == antennas_.index.end())
      input_error("{}: BASELINE: expected numbers of stations in AIPS AN, found {}", file_.name(), number);
    return at->second;
  }

  const io::FitsReader& file_;
  const Antennas& antennas_;
  const UvfitsAxes& axes_;
  const UvfitsParameters& parameters_;
  std::array<int64_t, static_cast<size_t>(Fault::count)> faults_{};
};

/// From days since MJD 0 to hours since the first row's midnight, in the order that an observation has.
void order(Observation& observation) {
  auto& rows = observation.visibilities;
  const auto earlier = [](const Visibility& a, const Visibility& b) { return a.time < b.time; };
  observation.mjd = static_cast<int64_t>(std::floor(std::min_element(rows.begin(), rows.end(), earlier)->time));
  for (auto& row : rows) row.time = (row.time - static_cast<double>(observation.mjd)) * 24;
  std::stable_sort(rows.begin(), rows.end(), [](const Visibility& a, const Visibility& b) {
    return std::tie(a.time, a.first, a.second) < std::tie(b.time, b.first, b.second);
  });
}

/// Degrees of the source: as observed, else where the phase centre is.
double direction(const io::FitsReader& file, const std::string& keyword, const std::string& axis) {
  if (const auto value = file.number(keyword)) return *value;
  for (size_t i = 1; i <= file.axes().size(); ++i)
    if (file.text(fmt::format("CTYPE{}", i)).value_or("") == axis)
      return file.number(fmt::format("CRVAL{}", i), "degrees");
  input_error("{}: {}: expected degrees, found neither this keyword nor an axis {}", file.name(), keyword, axis);
}

}  // namespace

Observation read_uvfits(const std::filesystem::path& path) { return parse_uvfits(io::read_file(path), path.string()); }

Observation parse_uvfits(std::span<const char> bytes, const std::string& name) {
  io::FitsReader file(bytes, name);
  const auto groups = file.groups();
  const auto axes = read_axes(file);
  const auto parameters = read_parameters(file, groups.parameters);
  Observation observation;
  observation.source = file.text("OBJECT").value_or("");
  observation.right_ascension = direction(file, "OBSRA", "RA") / 15;
  observation.declination = direction(file, "OBSDEC", "DEC");
  auto antennas = read_antennas(file);
  const double reference = antennas.frequency > 0 ? antennas.frequency : axes.reference;
  if (std::abs(reference / axes.reference - 1) > most_difference)
    input_error("{}: AIPS AN: FREQ: expected the frequency of the axis FREQ, {:g} Hz, within {:g} %, found {:g} Hz",
                name, axes.reference, 100 * most_difference, reference);
  observation.frequency = reference + axes.centre_offset + mean_band_offset(file, axes.band.size);
  observation.bandwidth = axes.channel_width * static_cast<double>(axes.channel.size * axes.band.size);
  if (!(observation.frequency > 0) || !std::isfinite(observation.frequency))
    input_error("{}: FREQ: expected a frequency > 0, found {}", name, observation.frequency);

  if (groups.count == 0) input_error("{}: GCOUNT: expected visibilities, found 0 groups", name);
  GroupReader read(file, antennas, axes, parameters);
  for (int64_t i = 0; i < groups.count; ++i)
    if (const auto row = read(groups.parameter.data() + i * groups.parameters, groups.value.data() + i * groups.values,
                              observation.frequency))
      observation.visibilities.push_back(*row);
    else
      ++observation.dropped;
  observation.weightless = read.count(Fault::weight);
  observation.malformed = read.malformed();
  if (observation.visibilities.empty()) input_error("{}: {}", name, read.commonest(groups.count));
  order(observation);
  observation.stations = std::move(antennas.stations);
  return observation;
}

}  // namespace penumbra::vlbi
