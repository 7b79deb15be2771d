/// A Gaussian blur.
#pragma once

#include "core/tensor.h"

namespace penumbra {

/// [..., H, W] blurred by a Gaussian of SD `sd` pixels; 0 leaves it as it is. Light near the edge stays within: the sum
/// does not change.
Tensor gaussian_blur(const Tensor& images, double sd);

}  // namespace penumbra
