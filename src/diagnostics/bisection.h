/// Whether a cloud of points is two clouds.
///
/// The points are parted by 2-means. D is the distance of the two centres in units of the SD within the parts along the
/// line through them. Parting one cloud gives a D as well, which is why it is compared with two numbers: that of the
/// flattest round cloud, a uniform disc (3.21; a Gaussian has 2.65), and those of simulated Gaussians with as many
/// points and the same variances along all principal axes, treated in the same way (as SigClust does, Liu et al.,
/// JASA 103, 2008). The simulation pays for the freedom of choosing axes and parting in many dimensions.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/tensor.h"

namespace penumbra::diagnostics {

struct BisectionOptions {
  double least_distance = 3.2;  ///< D
  double level = 0.001;         ///< how rarely a Gaussian cloud may count as two
  int64_t simulations = 999;    ///< at most: they end when it is clear that the cloud is one
  int64_t least_points = 5;     ///< in each part
};

struct Bisection {
  std::vector<int64_t> part;      ///< 0 or 1 for each point; empty where no parting leaves enough points on both sides
  double distance = 0;            ///< D
  std::optional<double> p_value;  ///< share of the simulated clouds with as large a D; absent where D is too small
  bool two = false;
};

/// Of images [N, ...], by their coordinates along the leading principal axes: those that hold 90 % of the variance, at
/// most one for every ten images (but two) and at most ten. Simulated numbers depend on `seed` alone.
Bisection bisect(const Tensor& images, uint64_t seed, const BisectionOptions& options = {});

}  // namespace penumbra::diagnostics
