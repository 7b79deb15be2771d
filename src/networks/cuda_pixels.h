/// The U-Net's operations on pixels on NVIDIA GPUs: our own kernels, without gradients.
#pragma once

#include "networks/pixel_ops.h"

namespace penumbra {

/// Whether this build and these tensors can use the kernel: CUDA, channels-last, no gradients wanted.
bool cuda_add_serves(const Tensor& a, const Tensor& b, Resample resample);

/// resampled(a) + b + bias, in b's memory; `bias` may be undefined.
Tensor cuda_add(const Tensor& a, Tensor b, const Tensor& bias, Resample resample);

/// Whether the kernel can do a convolution from one channel: 3x3, float32 in, many channels out like `like`.
bool cuda_first_convolution_serves(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& like);

/// In the type of `like`, channels-last.
Tensor cuda_first_convolution(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& like);

}  // namespace penumbra
