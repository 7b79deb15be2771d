#include "vlbi/uvfits_axes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/nearest.h"

namespace penumbra::vlbi {
namespace {

/// The keyword of this axis or parameter: CTYPE4.
std::string numbered(const char* keyword, int64_t index) { return fmt::format("{}{}", keyword, index); }

/// The places on the Stokes axis, by AIPS's codes: 1 I, -1 RR, -2 LL, -5 XX, -6 YY.
std::vector<int64_t> parallel_hands(const io::FitsReader& file, int64_t axis, int64_t count) {
  const double first = file.number(numbered("CRVAL", axis), "the first Stokes parameter's code"),
               step = file.number(numbered("CDELT", axis), "the step of the Stokes codes"),
               place = file.number(numbered("CRPIX", axis)).value_or(1);
  const auto find = [&](double code) -> int64_t {
    for (int64_t i = 0; i < count; ++i)
      if (std::abs(first + (static_cast<double>(i) + 1 - place) * step - code) < 0.01) return i;
    return -1;
  };
  if (const auto total = find(1); total >= 0) return {total};
  for (const double code : {-1.0, -5.0}) {
    std::vector<int64_t> hands;
    for (const auto hand : {find(code), find(code - 1)})
      if (hand >= 0) hands.push_back(hand);
    if (!hands.empty()) return hands;
  }
  input_error(
      "{}: {}: expected Stokes I, RR or LL, XX or YY on the Stokes axis, found {} codes from {:g} in steps of {:g}",
      file.name(), numbered("CRVAL", axis), count, first, step);
}

}  // namespace

UvfitsAxes read_axes(const io::FitsReader& file) {
  const auto sizes = file.axes();
  UvfitsAxes axes;
  bool has_complex = false, has_stokes = false, has_frequency = false;
  int64_t stride = 1;
  for (int64_t axis = 2; axis <= static_cast<int64_t>(sizes.size()); ++axis) {
    const auto size = sizes[static_cast<size_t>(axis - 1)];
    const auto type = file.text(numbered("CTYPE", axis)).value_or("");
    if (type == "COMPLEX") {
      if (size != 3 || stride != 1)
        input_error("{}: NAXIS{}: expected the axis COMPLEX first, with 3 numbers (real, imaginary, weight), found {}",
                    file.name(), axis, size);
      has_complex = true;
    } else if (type == "STOKES") {
      axes.stokes = {size, stride};
      axes.hands = parallel_hands(file, axis, size);
      has_stokes = true;
    } else if (type == "FREQ") {
      axes.channel = {size, stride};
      const double step = file.number(numbered("CDELT", axis), "the width of a channel in Hz"),
                   place = file.number(numbered("CRPIX", axis)).value_or(1);
      axes.reference = file.number(numbered("CRVAL", axis), "a frequency in Hz") + (1 - place) * step;
      axes.channel_width = std::abs(step);
      axes.centre_offset = static_cast<double>(size - 1) / 2 * step;
      has_frequency = true;
    } else if (type == "IF" || (type.empty() && size > 1)) {
      axes.band = {size, stride};
    } else if (size != 1) {
      input_error("{}: NAXIS{}: expected 1 for the axis {}, found {}", file.name(), axis, excerpt(type), size);
    }
    stride *= size;
  }
  for (const auto& [found, name] :
       {std::pair{has_complex, "COMPLEX"}, std::pair{has_stokes, "STOKES"}, std::pair{has_frequency, "FREQ"}})
    if (!found) input_error("{}: CTYPE: expected an axis {}, found none", file.name(), name);
  if (!(axes.reference > 0 && std::isfinite(axes.reference)))
    input_error("{}: CRVAL: expected a frequency > 0 on the axis FREQ, found {}", file.name(), axes.reference);
  return axes;
}

UvfitsParameters read_parameters(const io::FitsReader& file, int64_t count) {
  if (count > 100) input_error("{}: PCOUNT: expected at most 100 parameters, found {}", file.name(), count);
  const auto all = [&](const std::vector<std::string>& names) {
    UvfitsParameter parameter;
    for (int64_t i = 1; i <= count; ++i) {
      const auto type = file.text(numbered("PTYPE", i)).value_or("");
      if (std::find(names.begin(), names.end(), type) == names.end()) continue;
      const double scale = file.number(numbered("PSCAL", i)).value_or(1);
      if (scale == 0) input_error("{}: {}: expected a scale other than 0", file.name(), numbered("PSCAL", i));
      parameter.terms.push_back({i - 1, scale, file.number(numbered("PZERO", i)).value_or(0)});
    }
    return parameter;
  };
  const auto needed = [&](const std::vector<std::string>& names) {
    auto parameter = all(names);
    if (parameter.terms.empty())
      input_error("{}: PTYPE: expected a parameter {}, found none among {}", file.name(), names.front(), count);
    return parameter;
  };
  return {needed({"UU---SIN", "UU", "UU--", "UU---NCP"}), needed({"VV---SIN", "VV", "VV--", "VV---NCP"}),
          needed({"BASELINE"}), needed({"DATE", "_DATE"}), all({"INTTIM"})};
}

}  // namespace penumbra::vlbi
