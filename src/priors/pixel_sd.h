/// How far the images of a prior stray from their mean, pixel by pixel, before there are any data.
#pragma once

#include <optional>
#include <string>

#include "networks/header.h"
#include "priors/score.h"

namespace penumbra {

struct PriorSd {
  Tensor sd;         ///< [image], float64 on the CPU
  std::string from;  ///< "the prior's formula", "4000 training images"
};

/// Exact for a Gaussian or a mixture; what its file says for a network; nothing for other priors and older files.
std::optional<PriorSd> stored_pixel_sd(const Score& prior);

/// What a file of weights stores of such a map: float64 [C, H, W] in the network's own pixel range, on a grid of
/// PixelSpread::most at most. A cell has the root mean square of its pixels.
PixelSpread coarse_spread(const Tensor& sd, const std::string& from);

}  // namespace penumbra
