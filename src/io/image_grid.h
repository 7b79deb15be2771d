/// Many images on one page, for a look at them.
#pragma once

#include "core/tensor.h"

namespace penumbra::io {

/// Images [N, C, H, W] row by row in a square, a pixel of the lowest value between them: [3, ., .] in colour
/// where C is 3, else [., .] of the first channel.
Tensor image_grid(const Tensor& images);

/// [low, high] as 0..255, for write_png. What is outside is cut off; what is not a number is black.
Tensor to_bytes(const Tensor& image, double low, double high);

}  // namespace penumbra::io
