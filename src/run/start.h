/// Where the chains begin.
#pragma once

#include "core/settings.h"
#include "samplers/sampler.h"

namespace penumbra {

struct Start {
  enum class Kind { uniform, normal, prior, file } kind = Kind::uniform;
  double low = -1, high = 1;  ///< uniform
  double mean = 0, sd = 1;    ///< normal
  Tensor image;               ///< file: one image for all chains, or one for each chain of this process
};

Start start_setting(Settings settings, const Shape& image_shape, int64_t chains);

/// x_0 for `chains` chains from number `first_chain` on; chain c's start depends on (seed, c) alone.
ChainState initial_state(const Start& start, const Score& prior, uint64_t seed, int64_t first_chain, int64_t chains,
                         const Placement& placement);

}  // namespace penumbra
