/// The numbers of one iteration: as the host knows them, and as a step's formulas take them.
#pragma once

#include <optional>

#include "core/tensor.h"

namespace penumbra {

struct StepNumbers {
  double sigma = 0;
  double alpha = 1;
  double gamma = 0;
  double noise = 0;  ///< sqrt(2 gamma T): the factor of the noise z, T = 1 but for warm noise
  int64_t k = 0;     ///< which z

  /// All of them in this order, float64 [5]; `values` may be in the memory of a device, which is not waited for.
  void write(Tensor& values) const;
};

/// The same as 0-dimensional float64 tensors, so that a formula is written once, whoever has its numbers: the host, or
/// only the memory of a device, where a step that was recorded once finds those of every iteration.
struct StepScalars {
  Tensor sigma, alpha, gamma, noise;
  std::optional<StepNumbers> known;  ///< none: only memory has them
  Tensor held;                       ///< what `write` filled; undefined where they are known

  static StepScalars of(const StepNumbers& numbers);
  static StepScalars in(const Tensor& values);

  /// k; waits for the device that holds it.
  int64_t iteration() const;
};

}  // namespace penumbra
