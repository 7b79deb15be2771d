// The keywords and columns that AIPS and ehtim ask for, in the layout of the Event Horizon Telescope's own files.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "io/file.h"
#include "io/fits_writer.h"
#include "vlbi/date.h"
#include "vlbi/sidereal.h"
#include "vlbi/uvfits.h"

namespace penumbra::vlbi {
namespace {

void write_axis(io::FitsWriter& file, int axis, const std::string& type, double value, double step) {
  file.text(fmt::format("CTYPE{}", axis), type);
  file.number(fmt::format("CRVAL{}", axis), value);
  file.number(fmt::format("CDELT{}", axis), step);
  file.number(fmt::format("CRPIX{}", axis), 1);
  file.number(fmt::format("CROTA{}", axis), 0);
}

constexpr std::array parameter_names{"UU---SIN", "VV---SIN", "WW---SIN", "BASELINE", "DATE",
                                     "DATE",     "INTTIM",   "TAU1",     "TAU2"};
constexpr int64_t hands = 4;  // RR, LL, RL, LR

void write_header(io::FitsWriter& file, const Observation& observation) {
  const double degrees = observation.right_ascension * 15;
  file.number("OBSRA", degrees);
  file.number("OBSDEC", observation.declination);
  file.text("OBJECT", observation.source);
  file.number("MJD", static_cast<double>(observation.mjd));
  file.text("DATE-OBS", date_of(observation.mjd));
  file.number("BSCALE", 1);
  file.number("BZERO", 0);
  file.text("BUNIT", "JY");
  file.integer("VELREF", 3);
  file.text("EQUINOX", "J2000");
  file.number("ALTRPIX", 1);
  file.number("ALTRVAL", 0);
  file.text("TELESCOP", "VLBA");
  file.text("INSTRUME", "VLBA");
  file.text("OBSERVER", "EHT");
  write_axis(file, 2, "COMPLEX", 1, 1);
  write_axis(file, 3, "STOKES", -1, -1);
  write_axis(file, 4, "FREQ", observation.frequency, observation.bandwidth);
  write_axis(file, 5, "IF", 1, 1);
  write_axis(file, 6, "RA", degrees, 1);
  write_axis(file, 7, "DEC", observation.declination, 1);
  for (size_t i = 0; i < parameter_names.size(); ++i) {
    file.text(fmt::format("PTYPE{}", i + 1), parameter_names[i]);
    // u, v and w are stored in wavelengths, and are light seconds when scaled.
    file.number(fmt::format("PSCAL{}", i + 1), i < 3 ? 1 / observation.frequency : 1);
    file.number(fmt::format("PZERO{}", i + 1), 0);
  }
}

void write_rows(io::FitsWriter& file, const Observation& observation) {
  const auto midnight = static_cast<float>(static_cast<double>(observation.mjd) + mjd_zero);
  const bool many = observation.stations.size() > 255;
  int64_t index = 0;
  for (const auto& row : observation.visibilities) {
    const int first = row.first + 1, second = row.second + 1;
    const int baseline = many ? 65536 + 2048 * first + second : 256 * first + second;
    const std::array parameters{static_cast<float>(row.u),
                                static_cast<float>(row.v),
                                0.F,
                                static_cast<float>(baseline),
                                midnight,
                                static_cast<float>(row.time / 24),
                                static_cast<float>(row.seconds),
                                0.F,
                                0.F};
    const auto real = static_cast<float>(row.value.real()), imaginary = static_cast<float>(row.value.imag());
    const auto weight =
        static_cast<float>(1 / (2 * row.sd * row.sd));  // of one hand: the mean of both has half its variance
    const std::array<float, 3 * hands> values{real, imaginary, weight, real, imaginary, weight};
    file.group(++index, parameters, values);
  }
}

/// Eight letters, AIPS's, where they are enough: of names that are cut two may become the same.
std::string name_form(const std::vector<Station>& stations) {
  size_t letters = 8;
  for (const auto& station : stations) letters = std::max(letters, station.name.size());
  return fmt::format("{}A", letters);
}

void write_stations(io::FitsWriter& file, const Observation& observation) {
  const auto& stations = observation.stations;
  file.begin_table("AIPS AN",
                   {{"ANNAME", name_form(stations), ""},
                    {"STABXYZ", "3D", "METERS"},
                    {"ORBPARM", "1E", ""},
                    {"NOSTA", "1J", ""},
                    {"MNTSTA", "1J", ""},
                    {"STAXOF", "1E", "METERS"},
                    {"POLTYA", "1A", ""},
                    {"POLAA", "1E", "DEGREES"},
                    {"POLCALA", "3E", ""},
                    {"POLTYB", "1A", ""},
                    {"POLAB", "1E", "DEGREES"},
                    {"POLCALB", "3E", ""},
                    {"SEFD", "1D", ""}},
                   static_cast<int64_t>(stations.size()));
  file.integer("EXTVER", 1);
  for (const auto* keyword : {"ARRAYX", "ARRAYY", "ARRAYZ", "POLARX", "POLARY", "UT1UTC", "DATUTC"})
    file.number(keyword, 0);
  file.text("RDATE", date_of(observation.mjd));
  file.number("GSTIA0", sidereal_degrees(static_cast<double>(observation.mjd) + mjd_zero));
  file.number("DEGPDY", 360.9856);
  file.text("TIMESYS", "UTC");
  file.number("FREQ", observation.frequency);
  file.text("ARRNAM", "VLBA");
  file.text("XYZHAND", "RIGHT");
  file.text("FRAME", "????");
  file.integer("NUMORB", 0);
  file.integer("NO_IF", 1);
  file.integer("NOPCAL", 0);
  file.text("POLTYPE", "VLBI");
  file.integer("FREQID", 1);
  std::vector<std::string> names;
  std::vector<double> positions, numbers, sefds;
  for (const auto& station : stations) {
    names.push_back(station.name);
    positions.insert(positions.end(), station.position.begin(), station.position.end());
    numbers.push_back(static_cast<double>(numbers.size() + 1));
    sefds.push_back((station.sefd_right + station.sefd_left) / 2);
  }
  const std::vector<double> zeros(stations.size()), three_zeros(3 * stations.size());
  file.column(1, names);
  file.column(2, positions);
  file.column(4, numbers);
  file.column(7, std::vector<std::string>(stations.size(), "R"));
  file.column(10, std::vector<std::string>(stations.size(), "L"));
  for (const int column : {3, 5, 6, 8, 11}) file.column(column, zeros);
  for (const int column : {9, 12}) file.column(column, three_zeros);
  file.column(13, sefds);
}

void write_frequencies(io::FitsWriter& file, const Observation& observation) {
  file.begin_table("AIPS FQ",
                   {{"FRQSEL", "1J", ""},
                    {"IF FREQ", "1D", "HZ"},
                    {"CH WIDTH", "1E", "HZ"},
                    {"TOTAL BANDWIDTH", "1E", "HZ"},
                    {"SIDEBAND", "1J", ""}},
                   1);
  file.integer("EXTVER", 1);
  file.integer("NO_IF", 1);
  const std::array values{1.0, 0.0, observation.bandwidth, observation.bandwidth, 1.0};
  for (int i = 0; i < 5; ++i) file.column(i + 1, std::span(&values[static_cast<size_t>(i)], 1));
}

}  // namespace

std::string format_uvfits(const Observation& observation, const std::string& name) {
  io::FitsWriter file(name);
  const auto count = static_cast<int64_t>(observation.visibilities.size());
  file.begin_groups({0, 3, hands, 1, 1, 1, 1}, parameter_names.size(), count);
  write_header(file, observation);
  write_rows(file, observation);
  write_stations(file, observation);
  write_frequencies(file, observation);
  return file.finish();
}

void write_uvfits(const std::filesystem::path& path, const Observation& observation) {
  io::write_file(path, format_uvfits(observation, path.string()));
}

}  // namespace penumbra::vlbi
