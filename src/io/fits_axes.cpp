// Keywords of Greisen & Calabretta (2002) and Calabretta & Greisen (2002), and AIPS's CROTA2.
#include "io/fits_axes.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "core/lowercase.h"
#include "core/nearest.h"
#include "io/sky_image.h"

namespace penumbra::io {
namespace {

constexpr double largest_rotation = 1e-6;  // radians: a thousandth of a pixel over a thousand pixels
constexpr int most_described_axes = 9;     // what programs write, whatever NAXIS is

/// Without blanks around it; empty where the header has no such keyword.
std::string word_of(const FitsReader& file, const std::string& keyword) {
  const auto text = file.text(keyword).value_or("");
  const auto start = text.find_first_not_of(' ');
  return start == text.npos ? "" : text.substr(start, text.find_last_not_of(' ') + 1 - start);
}

double degrees_per_unit(const FitsReader& file, int axis) {
  constexpr std::array<std::pair<std::string_view, double>, 8> units{{{"deg", 1},
                                                                      {"degree", 1},
                                                                      {"degrees", 1},
                                                                      {"arcmin", 1 / 60.},
                                                                      {"arcsec", 1 / 3600.},
                                                                      {"mas", 1 / 3600e3},
                                                                      {"uas", 1 / 3600e6},
                                                                      {"rad", 1 / radians_per_degree}}};
  const auto keyword = fmt::format("CUNIT{}", axis);
  const auto unit = word_of(file, keyword);
  if (unit.empty()) return 1;
  for (const auto& [name, degrees] : units)
    if (lowercase(unit) == name) return degrees;
  input_error("{}: {}: expected deg, arcmin, arcsec, mas, uas or rad, found {}", file.name(), keyword, excerpt(unit));
}

/// "RA", or "RA---SIN" with whatever projection: at this size all are the same.
void require_direction(const FitsReader& file, int axis, const std::string& direction) {
  const auto keyword = fmt::format("CTYPE{}", axis);
  const auto type = word_of(file, keyword);
  if (!type.empty() && type != direction && !type.starts_with(direction + "-"))
    input_error("{}: {}: expected {}, alone or with a projection, found {}", file.name(), keyword, direction,
                excerpt(type));
}

bool has_cd_matrix(const FitsReader& file) {
  for (const auto* keyword : {"CD1_1", "CD1_2", "CD2_1", "CD2_2"})
    if (file.number(keyword)) return true;
  return false;
}

/// In the axis's own unit: CDi_i, else CDELTi PCi_i. Off the matrix's diagonal is the rotation.
double step_along(const FitsReader& file, int axis) {
  const bool cd = has_cd_matrix(file);
  const auto entry = [&](int column) { return fmt::format("{}{}_{}", cd ? "CD" : "PC", axis, column); };
  const double along = file.number(entry(axis)).value_or(cd ? 0 : 1), across = file.number(entry(3 - axis)).value_or(0);
  if (!(std::abs(across) <= largest_rotation * std::abs(along)))
    input_error("{}: {}: expected 0, an image that is not rotated, found {}", file.name(), entry(3 - axis), across);
  return cd ? along : along * file.number(fmt::format("CDELT{}", axis)).value_or(0);
}

FitsAxis read_axis(const FitsReader& file, int axis, const std::string& direction) {
  require_direction(file, axis, direction);
  const double unit = degrees_per_unit(file, axis);
  FitsAxis found{step_along(file, axis) * unit, file.number(fmt::format("CRVAL{}", axis))};
  if (found.reference) *found.reference *= unit;
  return found;
}

void require_no_rotation(const FitsReader& file) {
  const double rotation = file.number("CROTA2").value_or(0);
  if (!(std::abs(rotation) * radians_per_degree <= largest_rotation))
    input_error("{}: CROTA2: expected 0 degrees, an image that is not rotated, found {}", file.name(), rotation);
}

/// Images of polarisation have the same shape as those of the total intensity.
void require_stokes_i(const FitsReader& file) {
  const auto parameter = word_of(file, "STOKES");
  if (!parameter.empty() && lowercase(parameter) != "i")
    input_error("{}: STOKES: expected I, found {}", file.name(), excerpt(parameter));
  const auto sizes = file.axes();
  for (int axis = 3; axis <= most_described_axes; ++axis) {
    if (word_of(file, fmt::format("CTYPE{}", axis)) != "STOKES") continue;
    const auto size = static_cast<size_t>(axis) <= sizes.size() ? sizes[static_cast<size_t>(axis) - 1] : 1;
    if (size != 1) input_error("{}: NAXIS{}: expected 1, Stokes I alone, found {}", file.name(), axis, size);
    const auto number = [&](const char* keyword, double usual) {
      return file.number(fmt::format("{}{}", keyword, axis)).value_or(usual);
    };
    const double code = number("CRVAL", 0) + (1 - number("CRPIX", 1)) * number("CDELT", 1);
    if (code != 1) input_error("{}: CRVAL{}: expected 1, Stokes I, found {}", file.name(), axis, code);
  }
}

}  // namespace

FitsAxes read_fits_axes(const FitsReader& file) {
  require_stokes_i(file);
  require_no_rotation(file);
  return {read_axis(file, 1, "RA"), read_axis(file, 2, "DEC")};
}

}  // namespace penumbra::io
