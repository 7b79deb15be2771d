/// What the axes and the parameters of a UVFITS file's random groups are.
#pragma once

#include <cstdint>
#include <vector>

#include "io/fits_reader.h"

namespace penumbra::vlbi {

/// Where the values of a group lie, in whatever order the file has its axes; real and imaginary part and weight come
/// first.
struct UvfitsAxes {
  struct Axis {
    int64_t size = 1, stride = 0;
  };
  Axis stokes, channel, band;  ///< band: the IFs
  std::vector<int64_t> hands;  ///< places on the Stokes axis whose mean is Stokes I
  double channel_width = 0;    ///< Hz
  double reference = 0;        ///< Hz: the frequency axis at its first channel
  double centre_offset = 0;    ///< Hz: the mean channel's from the first one's
};

/// Throws InputError where the axes are not those of visibilities.
UvfitsAxes read_axes(const io::FitsReader& file);

/// One number of every group: several parameters of one name add up, as the day and its fraction do.
struct UvfitsParameter {
  struct Term {
    int64_t index = 0;
    double scale = 1, zero = 0;
  };
  std::vector<Term> terms;  ///< empty: the file has no such parameter

  /// `parameters` of one group.
  double operator()(const double* parameters) const {
    double sum = 0;
    for (const auto& term : terms) sum += parameters[term.index] * term.scale + term.zero;
    return sum;
  }
};

struct UvfitsParameters {
  UvfitsParameter u, v, baseline, date, seconds;
};

/// Throws InputError where one that is needed is missing.
UvfitsParameters read_parameters(const io::FitsReader& file, int64_t count);

}  // namespace penumbra::vlbi
