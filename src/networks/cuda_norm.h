/// The fused normalisation on NVIDIA GPUs where gradients are wanted: our own kernels, joined to LibTorch's autograd.
#pragma once

#include "networks/fused_norm.h"

namespace penumbra {

/// Whether this build and these tensors can use the kernels: CUDA, channels-last, float32 or bfloat16 or float16.
bool cuda_norm_serves(const Tensor& x, const NormalizationTerms& terms);

Tensor cuda_normalise(const Tensor& x, const NormalizationTerms& terms);

}  // namespace penumbra
