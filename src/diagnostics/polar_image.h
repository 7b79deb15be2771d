/// An image of the sky read along rays from a centre: blurred, and interpolated by cubics between pixels.
#pragma once

#include <vector>

#include "core/tensor.h"

namespace penumbra::diagnostics {

/// From the middle of the image, in the unit of the pixel's side.
struct Centre {
  double east = 0, north = 0;
};

/// Row 0 is in the North, column 0 in the East; angles are in radians East of North.
class PolarImage {
 public:
  /// `pixels` [H, W]; `blur` is the FWHM of a Gaussian, in the unit of `pixel`.
  PolarImage(const Tensor& pixels, double pixel, double blur);

  double pixel() const { return pixel_; }
  double radial_step() const { return pixel_ / 2; }
  bool has_light() const { return brightest_ > 0; }
  /// Of what is brighter than a fifth of the brightest pixel.
  Centre centroid() const;
  /// Brightness at radius r; 0 outside the image.
  double at(const Centre& centre, double r, double angle) const;
  /// Brightness at 0, 1, 2... radial steps, to half the width of the image.
  std::vector<double> profile(const Centre& centre, double angle) const;

 private:
  double between_pixels(double row, double column) const;
  double pixel_, brightest_ = 0;
  int64_t height_, width_;
  std::vector<double> value_;
};

}  // namespace penumbra::diagnostics
