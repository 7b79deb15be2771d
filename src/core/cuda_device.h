/// Which GPUs run kernels of our own; on the others everything is LibTorch's.
#pragma once

#include "core/tensor.h"

namespace penumbra {

/// Compute capability 8.0 or more, in a build with CUDA: older ones lack bfloat16 on their matrix units.
bool kernels_run_on(const at::Device& device);

/// What a launch takes as the second extent of its grid: kernels have the images there.
constexpr int64_t most_images = 65535;

}  // namespace penumbra
