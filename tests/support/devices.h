/// Where tests of operators run: on the CPU and, where there is one, on a GPU. Names end in the device's.
#pragma once

#include <ATen/Context.h>

#include <vector>

#include "core/tensor.h"

namespace penumbra::test {

inline std::vector<at::DeviceType> devices() {
  std::vector<at::DeviceType> found{at::kCPU};
  if (at::hasCUDA()) found.push_back(at::kCUDA);
  return found;
}

inline std::string name_of(at::DeviceType device) { return c10::DeviceTypeName(device, /*lower_case=*/true); }

}  // namespace penumbra::test
