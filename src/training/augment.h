/// Random changes of training images that leave them images of the same kind: flips, small warps, intensities.
#pragma once

#include "core/random.h"
#include "core/settings.h"
#include "core/tensor.h"
#include "training/warp.h"

namespace penumbra::training {

/// The default changes nothing. A spread s of a factor means log-uniform between 1 / (1 + s) and 1 + s.
struct AugmentOptions {
  double low = 0, high = 1;                       ///< the range of the pixels; what leaves it is clamped
  double horizontal_flip = 0, vertical_flip = 0;  ///< probabilities
  double unwarped = 0;                            ///< share of the images that no warp blurs
  double rotation = 0, shear = 0;                 ///< degrees, uniform in both directions
  double scale = 0;                               ///< spread of the size
  double translation = 0;                         ///< share of the height and width, uniform in both directions
  WarpOptions warp = {};
  double brightness = 0;  ///< added: share of the range, uniform in both directions
  double contrast = 0;    ///< spread of the factor about the middle of the range
  double gamma = 0;       ///< spread of the exponent on the range as [0, 1]
};

/// The section `augment` (docs/training-data.md); `enabled: false` gives options that change nothing.
AugmentOptions augment_setting(Settings section, double low, double high);

/// Images [B, C, H, W], floats on any device. Row b's changes depend on (seed, first_chain + b, k) alone, where
/// first_chain is the place of the first row in the global batch and k the step.
Tensor augment(const Tensor& images, const AugmentOptions& options, const Cursor& at);

}  // namespace penumbra::training
