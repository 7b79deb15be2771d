/// The visibilities of an image of pixels: V_k = sum over pixels of A_kp x_p, one real matrix [Re A; Im A].
#pragma once

#include "core/tensor.h"
#include "vlbi/observation.h"

namespace penumbra::vlbi {

/// What a pixel stands for between the pixels: a point, or a pyramid, so that values are interpolated linearly.
enum class Pulse { triangle, delta };

/// Row 0 lies in the North, column 0 in the East; the origin of (X, Y) is the middle of the image.
struct PixelGrid {
  int64_t height = 0, width = 0;
  double pixel = 0;  ///< side of a pixel, radians
  Pulse pulse = Pulse::triangle;
};

inline constexpr double microarcsecond = 3.14159265358979323846 / 180 / 3600e6;  // radians

/// [2 m, height * width], float64: A_kp = P(u_k) P(v_k) exp(+2 pi i (u_k X_p + v_k Y_p)), real parts above imaginary
/// ones. P(u) = sinc^2(u pixel) for the triangle.
Tensor dft_matrix(const Observation& observation, const PixelGrid& grid);

/// A and its transpose for a batch of images, in real matrix products, never in TF32: near a null of V its ten bits
/// leave a gradient that is wrong by percents. The origin is the middle of the image, so that a pixel and its opposite
/// (the p-th from either end) have conjugate waves: Re A is even and Im A odd. On a CPU it is therefore folded: of the
/// image's even and odd parts half of the pixels do, and half of the work. A GPU would wait longer for the folding.
class DirectTransform {
 public:
  /// Made in double and kept in the placement's precision; `scale` multiplies A.
  DirectTransform(const Observation& observation, const PixelGrid& grid, double scale, const Placement& placement);

  int64_t rows() const { return A_.size(1); }
  /// [chains, pixels] to [2 m, chains].
  Tensor apply(const Tensor& x) const;
  /// [2 m, chains] to [chains, pixels].
  Tensor transposed(const Tensor& w) const;
  /// A of an image of ones, [2 m, 1]; summed in double.
  const Tensor& of_ones() const { return of_ones_; }

 private:
  int64_t half() const { return (pixels_ + 1) / 2; }

  int64_t pixels_;
  bool folded_;
  Tensor A_;  ///< [2, m, pixels or the first half of them]: real and imaginary parts
  Tensor of_ones_;
};

}  // namespace penumbra::vlbi
