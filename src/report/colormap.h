/// Images as colours: one hue path for intensities, one for uncertainty, one for signed errors.
///
/// The sequential maps are straight lines in the lightness of OKLab, so that equal steps of the value look equal and
/// survive a black-and-white printer; the diverging map is neutral at the middle of its range.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/tensor.h"

namespace penumbra::report {

enum class Colormap {
  gray,
  ember,      ///< black, violet, orange, cream: intensities on a dark ground
  sd,         ///< deep blue, teal, yellow: uncertainty
  diverging,  ///< blue, white, red: signed errors
};

/// The values at the two ends of a colour scale.
struct Range {
  double low = 0;
  double high = 1;
};

using Colour = std::array<uint8_t, 3>;  ///< red, green, blue

/// For a NaN, in no map: one that should not be there, and one that means "not measured".
inline constexpr Colour broken{255, 0, 255}, not_measured{112, 146, 190};

/// At t in [0, 1].
Colour colour(Colormap map, double t);

/// [H, W] numbers as [3, H, W] bytes. Values outside the range take the end's colour, NaN takes its own.
Tensor colorize(const Tensor& image, Range range, Colormap map, Colour nan = broken);

/// Any image as [3, H, W'] bytes: [H, W]; three channels under gray or ember as red, green and blue; the other
/// [C, H, W] as their channels side by side.
Tensor picture_bytes(const Tensor& image, Range range, Colormap map, Colour nan = broken);

/// Whether picture_bytes shows these channels as red, green and blue, so that a colour bar would mean nothing.
bool shown_as_rgb(const Tensor& image, Colormap map);

/// Where the finite values of all images lie, without the share `outside` at either end; [0, 1] if there are none.
Range range_of(const std::vector<Tensor>& images, double outside = 0.001);

/// [-m, m] with m the largest finite absolute value.
Range symmetric_range(const Tensor& image);

}  // namespace penumbra::report
