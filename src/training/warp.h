/// Affine warps of images by interpolation, on the images' device.
#pragma once

#include "core/tensor.h"

namespace penumbra::training {

enum class Interpolation { bilinear, bicubic };

/// What lies outside the image.
enum class Border {
  reflect,   ///< its mirror image
  edge,      ///< its outermost pixels
  constant,  ///< `fill`
};

struct WarpOptions {
  Interpolation interpolation = Interpolation::bicubic;  ///< bilinear blurs more
  Border border = Border::reflect;
  double fill = 0;
};

/// One image's deformation about its centre; the default changes nothing.
struct Affine {
  double rotation = 0;         ///< degrees, counter-clockwise
  double scale = 1;            ///< above 1 enlarges
  double shear = 0;            ///< degrees by which vertical lines lean
  double right = 0, down = 0;  ///< shift in pixels
  /// [2, 3]: (x, y, 1) of a pixel of the result to (x, y) of the image there; pixels right and down of the centre.
  Tensor inverse() const;
};

/// `maps` is [B, 2, 3] of Affine::inverse, for images [B, C, H, W].
Tensor warp(const Tensor& images, const Tensor& maps, const WarpOptions& options);

}  // namespace penumbra::training
