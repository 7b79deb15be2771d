#include "theory/extrapolation.h"

#include <ATen/ATen.h>

namespace penumbra::theory {

Extrapolated extrapolate(const Moments& at_gamma, const Moments& at_half) {
  const auto variance = 2 * at_half.sd.square() - at_gamma.sd.square();
  // Where both are 0 the pixel never moves, and 0 is right.
  const auto unusable = variance.lt(0).logical_or(variance.eq(0).logical_and(at_half.sd.gt(0)));
  return {{2 * at_half.mean - at_gamma.mean, at::where(unusable, at_half.sd, variance.clamp_min(0).sqrt())}, unusable};
}

}  // namespace penumbra::theory
