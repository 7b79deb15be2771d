/// CUDA kernels of the U-Net's operations on pixels, without LibTorch: pointers in, an error text out (null: none).
/// Images are channels-last, as in norm_kernels.h.
#pragma once

#include <cstdint>

#include "networks/norm_kernels.h"

namespace penumbra::cuda {

struct AddProblem {
  int n, height, width, channels;  ///< of the sum
  Element element;
  Resample resample;  ///< of the first term on its way
};

/// b <- resampled(a) + b + bias; `bias`, [channels] in the images' type, may be null.
const char* add_images(const AddProblem& problem, const void* a, void* b, const void* bias, CUstream_st* stream);

struct FirstConvolution {
  int n, height, width, channels;  ///< of the result
  Element element;                 ///< of the result; x, weight and bias are float32
};

/// 3x3, from one channel to many, zeros around the image: x [n, height, width], weight [channels, 3, 3].
const char* first_convolution(const FirstConvolution& problem, const float* x, const float* weight, const float* bias,
                              void* y, CUstream_st* stream);

}  // namespace penumbra::cuda
