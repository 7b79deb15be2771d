#include "app/experiments/interferometry/orientation.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "app/experiments/interferometry/reconstruction.h"
#include "diagnostics/alignment.h"

namespace penumbra::app::interferometry {

std::vector<double> orientations(const Tensor& samples, const Tensor& truth) {
  const auto turned = truth.flip({-2, -1});
  const auto most = std::min(truth.size(-2), truth.size(-1)) / 4;
  const auto likeness = [&](const Tensor& x, const Tensor& reference) {
    const auto [rows, columns] = diagnostics::shift_onto(x, reference, most);
    return cross_correlation(x.roll({rows, columns}, {-2, -1}), reference);
  };
  std::vector<double> result;
  for (int64_t i = 0; i < samples.size(0); ++i)
    result.push_back(likeness(samples[i], truth) - likeness(samples[i], turned));
  return result;
}

OrientationShares shares(const std::vector<double>& orientations) {
  OrientationShares found;
  for (const auto lead : orientations) {
    if (lead >= undecided_below)
      ++found.as_truth;
    else if (lead <= -undecided_below)
      ++found.turned;
    else
      ++found.undecided;
  }
  const auto decided = static_cast<double>(found.as_truth + found.turned);
  found.share = static_cast<double>(found.as_truth) / decided;
  found.error = std::sqrt(found.share * (1 - found.share) / decided);
  return found;
}

}  // namespace penumbra::app::interferometry
