/// Images of black holes from nothing but numbers: each depends on (seed, index) alone.
#pragma once

#include <cstdint>
#include <vector>

#include "blackhole/scene.h"

namespace penumbra::blackhole {

constexpr int64_t smallest_size = 8, largest_size = 512;

struct ImageOptions {
  int64_t size = 64;  ///< pixels along each side
  uint64_t seed = 0;
  SceneRanges ranges = {};
};

/// What image number `index` shows.
Scene scene_of(const ImageOptions& options, int64_t index);

/// Row by row from the top, in [0, 1].
std::vector<float> generate(const ImageOptions& options, int64_t index);

/// A scene that is known; the turbulence is that of (seed, index).
std::vector<float> render(const Scene& scene, const ImageOptions& options, int64_t index);

}  // namespace penumbra::blackhole
