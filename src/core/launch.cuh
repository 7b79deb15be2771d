/// What a kernel's launch says of itself.
#pragma once

#include <cuda_runtime.h>

namespace penumbra::cuda {

/// Why the last launch failed; null: it did not.
inline const char* last_error() {
  const auto error = cudaGetLastError();
  return error == cudaSuccess ? nullptr : cudaGetErrorString(error);
}

}  // namespace penumbra::cuda
