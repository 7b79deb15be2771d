/// A U-Net's passes over its images on NVIDIA GPUs: our own kernels, without gradients.
#pragma once

#include "networks/fused_norm.h"

namespace penumbra {

/// Whether this build and these tensors can use the kernel: CUDA, channels-last, no gradients wanted.
bool cuda_add_serves(const Tensor& a, const Tensor& b, const Tensor& bias, Resample resample);

/// resampled(a) + b + bias, in b's memory, with its sums; `bias` may be undefined.
Features cuda_add(const Tensor& a, Tensor b, const Tensor& bias, Resample resample);

/// One or two parts whose channels follow one another.
bool cuda_parts_serve(at::ArrayRef<Features> parts);
bool cuda_parts_norm_serves(at::ArrayRef<Features> parts, const NormalizationTerms& terms);

/// normalise(): the parts are never joined.
Tensor cuda_normalise_parts(at::ArrayRef<Features> parts, const NormalizationTerms& terms);

/// Whether the kernel can add parts mixed by `weight` [out, in, 1, 1] to `change`.
bool cuda_skip_serves(at::ArrayRef<Features> parts, const Tensor& weight, const Tensor& bias, const Features& change);

/// change + weight parts + bias, in change's memory, rounded once, with its sums.
Features cuda_skip(at::ArrayRef<Features> parts, const Tensor& weight, const Tensor& bias, const Features& change);

/// Whether the kernel can do a convolution from one channel: 3x3, float32 in, many channels out like `like`.
bool cuda_first_convolution_serves(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& like);

/// In the type of `like`, channels-last, with its sums.
Features cuda_first_convolution(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& like);

/// Whether the kernel can normalise, activate and convolve to one channel: 3x3.
bool cuda_last_convolution_serves(const Features& x, const NormalizationTerms& terms, const Tensor& weight);

/// In float32.
Tensor cuda_last_convolution(const Features& x, const NormalizationTerms& terms, const Tensor& weight,
                             const Tensor& bias);

}  // namespace penumbra
