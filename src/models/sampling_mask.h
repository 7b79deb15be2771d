/// Which points of k-space are measured: bool [H, W], zero frequency at [H/2, W/2].
#pragma once

#include "core/settings.h"
#include "core/tensor.h"

namespace penumbra {

/// The paper's radial lines through the centre, point for point those of the official code. Even sizes only.
Tensor radial_mask(int64_t height, int64_t width, int64_t lines);

/// Whole lines of a Cartesian scan: the middle `centre` of `size`, and others at random; round(size / acceleration) in
/// all. [size].
Tensor random_lines(int64_t size, int64_t centre, double acceleration, uint64_t seed);

struct PoissonDisc {
  double acceleration = 4;
  int64_t calibration = 24;  ///< side of the fully sampled square at the centre
  bool variable_density = true;
  uint64_t seed = 0;
};

/// Points at random, none nearer to another than a radius that grows from the centre outwards (or is the same
/// everywhere); round(H W / acceleration) in all.
Tensor poisson_disc_mask(int64_t height, int64_t width, const PoissonDisc& options);

/// The mask of a configuration's `mask` section. `acquired`: what the data file holds, for `kind: data`; undefined
/// where there are no data.
Tensor mask_setting(Settings settings, int64_t height, int64_t width, const Tensor& acquired);

/// Extents of the rectangle around the zero frequency in which every point is measured: the one whose shorter side is
/// longest, and of those the largest; 0, 0 where there is none. (The largest of all may be a single line of a star.)
std::pair<int64_t, int64_t> sampled_centre(const Tensor& mask);

/// Extent `size` around the zero frequency of `dim`.
Tensor around_centre(const Tensor& x, int64_t dim, int64_t size);

}  // namespace penumbra
