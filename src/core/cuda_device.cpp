#include "core/cuda_device.h"

#ifdef PENUMBRA_CUDA
#include <c10/cuda/CUDAFunctions.h>
#include <cuda_runtime_api.h>

#include <vector>
#endif

namespace penumbra {

#ifndef PENUMBRA_CUDA

bool kernels_run_on(const at::Device& /*device*/) { return false; }

#else

namespace {

/// Asked once: every layer wants to know.
std::vector<bool> cards_that_run_them() {
  std::vector<bool> cards;
  for (int index = 0; index < c10::cuda::device_count(); ++index) {
    int major = 0;
    cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, index);
    cards.push_back(major >= 8);
  }
  return cards;
}

}  // namespace

bool kernels_run_on(const at::Device& device) {
  static const auto cards = cards_that_run_them();
  if (!device.is_cuda()) return false;
  const auto index = device.has_index() ? device.index() : c10::cuda::current_device();
  return cards.at(static_cast<size_t>(index));
}

#endif

}  // namespace penumbra
