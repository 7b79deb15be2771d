/// The Langevin update on NVIDIA GPUs: our own kernel, which draws its noise itself.
#pragma once

#include "core/random.h"
#include "samplers/step_numbers.h"

namespace penumbra {

/// Whether this build and these tensors can use the kernel: CUDA, float32, contiguous.
bool cuda_langevin_serves(const Tensor& x, const Tensor& grad_g, const Tensor& score);

/// As langevin_update says, with the bits that LibTorch's operations have on the same GPU.
Tensor cuda_langevin_update(const Tensor& x, const Tensor& grad_g, const Tensor& score, const StepScalars& numbers,
                            const Cursor& at);

}  // namespace penumbra
