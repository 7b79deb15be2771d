/// How the pixels of a FITS image lie on the sky, as its header says.
#pragma once

#include <optional>

#include "io/fits_reader.h"

namespace penumbra::io {

struct FitsAxis {
  double step = 0;                  ///< degrees from pixel to pixel; 0 where the header does not say
  std::optional<double> reference;  ///< degrees at the reference pixel, where the header says
};

struct FitsAxes {
  FitsAxis right_ascension, declination;
};

/// Of the first two axes, with their units. Throws InputError that names the file, the keyword, what was expected and
/// what was found where they are other directions or are rotated, and where the pixels are not of Stokes I.
FitsAxes read_fits_axes(const FitsReader& file);

}  // namespace penumbra::io
