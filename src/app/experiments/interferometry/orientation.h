/// Which way round a sample is: nearer to the truth, or to the truth turned by 180 degrees.
#pragma once

#include <vector>

#include "core/tensor.h"

namespace penumbra::app::interferometry {

/// Cross-correlation with the truth less that with the turned truth, each after its best shift, of samples
/// [N, 1, H, W]: from -2 to 2.
std::vector<double> orientations(const Tensor& samples, const Tensor& truth);

/// A difference below this says neither.
inline constexpr double undecided_below = 0.05;

struct OrientationShares {
  int64_t as_truth = 0, turned = 0, undecided = 0;
  /// Of those that are decided, and its binomial error; NaN where there is none.
  double share = 0, error = 0;
};
OrientationShares shares(const std::vector<double>& orientations);

}  // namespace penumbra::app::interferometry
