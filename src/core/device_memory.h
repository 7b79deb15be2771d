/// How much memory a computation took.
#pragma once

#include "core/tensor.h"

namespace penumbra {

/// Forgets earlier peaks, on a GPU; a CPU's process cannot.
void reset_peak_memory(const at::Device& device);

/// The most bytes that tensors held on a GPU since the reset; on a CPU, that the process held since its start.
int64_t peak_memory(const at::Device& device);

}  // namespace penumbra
