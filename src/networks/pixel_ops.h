/// The U-Net's operations on pixels beside convolution and normalisation. On CPUs without gradients, in channels-last
/// memory and float32 or bfloat16, they are our own loops (LibTorch 1.13's take two to six times as long); on GPUs
/// without gradients, where it saves a pass over the images, our own kernels; else LibTorch's.
#pragma once

#include "core/tensor.h"

namespace penumbra {

enum class Resample { none, down, up };

/// halve(x), twice(x), or x itself.
Tensor resampled(const Tensor& x, Resample resample);

/// Images between two operations, with what is left to whoever reads them next: one pass less over them.
struct Features {
  Tensor value;
  Tensor bias = {};  ///< [channels], in value's type, to be added; undefined: the value is whole
  /// On GPUs: [N, chunks, channels, 2], sum and sum of squares of value + bias over chunks of the pixels; undefined:
  /// not known.
  Tensor sums = {};
};

/// resampled(a) + b; b's value, which nothing else may hold, is overwritten where that is faster.
Features add_to(const Tensor& a, Features b, Resample resample = Resample::none);

/// The channels of a, then those of b.
Tensor join(const Tensor& a, const Tensor& b);

/// The same for who can read two tensors as one: not joined on GPUs without gradients.
std::vector<Features> side_by_side(const Features& a, const Features& b);

/// Averages 2x2 pixels.
Tensor halve(const Tensor& x);

/// Repeats every pixel in a 2x2 square.
Tensor twice(const Tensor& x);

}  // namespace penumbra
