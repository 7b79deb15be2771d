/// Many images of black holes, on all threads.
#pragma once

#include <functional>

#include "blackhole/image.h"
#include "core/settings.h"
#include "core/tensor.h"

namespace penumbra::blackhole {

/// The ranges of a section, each [low, high] (docs/blackhole-images.md).
SceneRanges ranges_setting(Settings& section);

/// Images made so far; called by one thread at a time.
using Made = std::function<void(int64_t done)>;

/// Images 0 to count - 1 as float32 [count, 1, size, size] in [0, 1].
Tensor generate_set(const ImageOptions& options, int64_t count, const Made& made = {});

}  // namespace penumbra::blackhole
