/// The ring in an image of the sky: diameter, width, orientation, asymmetry, as the Event Horizon Telescope's paper IV
/// (ApJL 875 L4, 2019, section 9) measures them; docs/modes.md has the definitions and where they differ.
#pragma once

#include <optional>
#include <vector>

#include "core/tensor.h"

namespace penumbra::diagnostics {

/// Lengths in microarcseconds, angles in degrees East of North.
struct Ring {
  double east = 0, north = 0;   ///< of the centre, from the middle of the image
  double diameter = 0;          ///< twice the mean radius of the ridge
  double diameter_sd = 0;       ///< twice the SD of that radius along the ring
  double width = 0;             ///< mean full width at half maximum, without the blur
  double orientation = 0;       ///< where along the ring the light is, in (-180, 180]
  double orientation_sd = 0;    ///< over the radii between diameter -+ width
  double asymmetry = 0;         ///< A: 0 for an even ring, 0.5 for a brightness of 1 + cos, 1 for a point
  double central_contrast = 0;  ///< brightness in the middle over that of the ridge
};

struct RingOptions {
  double fov = 0;    ///< microarcseconds, the width of the image
  double blur = -1;  ///< FWHM of a Gaussian applied first, microarcseconds; negative: two pixels
  double black = 0;  ///< value of no brightness
};

/// Nothing where the image [H, W] has no ring: it is blank, its light has no hole in the middle (contrast over 0.8),
/// the ridge is at no common radius (SD over 0.3 of the mean) or is not around the hole (see Ridge::around, 0.4).
/// Throws InputError on an image that is not finite.
std::optional<Ring> find_ring(const Tensor& image, const RingOptions& options);

/// Mean and central intervals of one feature over the samples.
struct Interval {
  double mean = 0, sd = 0, low68 = 0, high68 = 0, low95 = 0, high95 = 0;
};

/// Weighted; of at least one value.
Interval interval(const std::vector<double>& values, const std::vector<double>& weights);

/// The same for angles in degrees: the mean is the direction of the mean vector, in (-180, 180], the intervals those of
/// the differences from it, so that their ends may lie outside (-180, 180]; the SD is sqrt(-2 log |mean vector|).
Interval circular_interval(const std::vector<double>& degrees, const std::vector<double>& weights);

}  // namespace penumbra::diagnostics
