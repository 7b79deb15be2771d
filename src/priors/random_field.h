/// A built-in analytic image prior: what a mixture of Gaussians can say about compact, smooth, ring- or disk-like
/// sources. It needs no training data, its score is exact, and its posterior under linear data is known in closed form.
#pragma once

#include "priors/gaussian_mixture.h"

namespace penumbra {

struct RandomFieldOptions {
  int64_t side = 64;        ///< images are 1 x side x side, values about [0, 1]
  int64_t modes = 16;       ///< cosine modes a direction, modes^2 directions in all
  double amplitude = 0.18;  ///< standard deviation of the smooth field at the image's centre
  double length = 0.16;     ///< correlation length as a fraction of the side
  double floor_sd = 0.02;   ///< standard deviation of what the modes do not reach, white
};

/// Three components: a ring, a disk, and a double source; smooth random deviations, stronger where the source is.
std::shared_ptr<const GaussianMixture> random_field(const RandomFieldOptions& options, const Placement& placement);

}  // namespace penumbra
