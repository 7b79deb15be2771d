#include "core/device_memory.h"

#include <sys/resource.h>

#ifdef PENUMBRA_CUDA
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#endif

namespace penumbra {
namespace {

int64_t peak_of_process() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return int64_t{1024} * usage.ru_maxrss;
}

}  // namespace

#ifndef PENUMBRA_CUDA

void reset_peak_memory(const at::Device& /*device*/) {}

int64_t peak_memory(const at::Device& /*device*/) { return peak_of_process(); }

#else

namespace {

/// A `cuda` without a number is the current one.
c10::DeviceIndex index_of(const at::Device& device) {
  return device.has_index() ? device.index() : c10::cuda::current_device();
}

}  // namespace

void reset_peak_memory(const at::Device& device) {
  if (device.is_cuda()) c10::cuda::CUDACachingAllocator::resetPeakStats(index_of(device));
}

int64_t peak_memory(const at::Device& device) {
  if (!device.is_cuda()) return peak_of_process();
  // The first of the kinds is all of them together.
  return c10::cuda::CUDACachingAllocator::getDeviceStats(index_of(device)).allocated_bytes[0].peak;
}

#endif

}  // namespace penumbra
