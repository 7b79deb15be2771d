/// Times of repeated work on a device, and what its matrix units can do.
#pragma once

#include <functional>
#include <string>

#include "core/tensor.h"

namespace penumbra::app {

/// Of one call, in milliseconds.
struct Timing {
  double median = 0;
  double low = 0, high = 0;  ///< a tenth of the samples is below, a tenth above
};

/// Calls `work` for about `seconds`. Calls are timed in groups with one wait for the device after each: on a GPU the
/// host runs ahead within a group, as it does in a long run.
Timing measure(const at::Device& device, double seconds, const std::function<void()>& work);

struct Peak {
  double tflops = 0;
  std::string of = {};  ///< what was multiplied
};

/// Of a large product of random matrices of this type.
Peak measure_peak(const at::Device& device, at::ScalarType type, double seconds);

}  // namespace penumbra::app
