/// A(x) = P F (S_c e^{i phase} gain fit(x)): what the coils of a scanner measure of an image.
#pragma once

#include "models/forward_model.h"

namespace penumbra {

/// How the prior's image lies in the scan.
struct MriOrientation {
  int64_t quarter_turns = 0;  ///< counter-clockwise, 0 to 3
  bool flip = false;          ///< left and right, after the turn
};

struct MriOptions {
  Tensor mask;      ///< bool [H, W]: the points of k-space that are measured; zero frequency at [H/2, W/2]
  Tensor coils;     ///< complex [coils, H, W]; undefined: one coil that sees everything alike
  Tensor phase;     ///< complex [H, W] of modulus one: the phase of a real image; undefined: none
  double gain = 1;  ///< intensity of the scan for one unit of x
  MriOrientation orientation = {};
};

/// Images [1, H, W] are real, [2, H, W] the real and the imaginary part. The data are [coils, m], complex, the m
/// measured points in the order of the mask's rows. An image of another size than the scan is cropped or padded with
/// zeros around the centre: a pixel of the prior is one of the scan.
class MriModel final : public ForwardModel {
 public:
  MriModel(Shape image_shape, const MriOptions& options, const Placement& placement);
  bool linear() const override { return true; }

  /// [..., coils, m] -> [..., coils, H, W], zeros where nothing was measured; and back.
  Tensor to_grid(const Tensor& data) const;
  Tensor from_grid(const Tensor& grid) const;

  /// An image of the scan, complex [H, W], as one of the prior's size and orientation: [channels, H, W], its phase
  /// taken off where a real image is to have it back, one unit of x being the gain.
  Tensor as_image(const Tensor& scan) const;

  /// Whether a pixel of the prior's is in the scan and some coil sees it: bool [H, W].
  Tensor seen() const;

 private:
  Tensor do_apply(const Tensor& x) const override;
  Tensor do_vjp(const Tensor& x, const Tensor& r) const override;
  /// [chains, H, W] of the scan, complex, to [chains, channels, H, W] of the prior.
  Tensor from_scan(const Tensor& scan) const;
  /// The last two dimensions from the scan's size and orientation to the prior's.
  Tensor placed(const Tensor& scan) const;

  int64_t height_, width_;  ///< of the scan
  MriOrientation orientation_;
  double gain_;
  Tensor phase_;
  Tensor maps_;       ///< S_c e^{i phase}, moved so that the image's centre is at [0, 0]; undefined: ones
  Tensor measured_;   ///< [m]: the points in a flat k-space whose zero frequency is at the centre
  Tensor unshifted_;  ///< [m]: the same points with the zero frequency at [0, 0], where the FFT has it
};

}  // namespace penumbra
