/// Any image as one of a given shape: colours as wanted, the shorter side scaled to fit, the middle cut out.
#pragma once

#include "core/tensor.h"

namespace penumbra::training {

/// float32 [1 or 3, h, w] to [channels, height, width]. Colour becomes gray by luminance (Rec. 601), gray becomes
/// colour by repetition; scaling is linear interpolation, averaged over the pixels that one replaces. An image that
/// has the shape already keeps its bits.
Tensor fit(const Tensor& image, const Shape& shape);

/// Whether fit has to invent pixels.
bool is_smaller(const Tensor& image, const Shape& shape);

}  // namespace penumbra::training
