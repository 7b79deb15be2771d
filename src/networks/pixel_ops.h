/// The U-Net's operations on pixels beside convolution and normalisation. On CPUs without gradients, in channels-last
/// memory and float32 or bfloat16, they are our own loops (LibTorch 1.13's take two to six times as long); else
/// LibTorch's.
#pragma once

#include "core/tensor.h"

namespace penumbra {

/// a + b; b, which nothing else may hold, is overwritten where that is faster.
Tensor add_to(const Tensor& a, Tensor b);

/// The channels of a, then those of b.
Tensor join(const Tensor& a, const Tensor& b);

/// Averages 2x2 pixels.
Tensor halve(const Tensor& x);

/// Repeats every pixel in a 2x2 square.
Tensor twice(const Tensor& x);

}  // namespace penumbra
