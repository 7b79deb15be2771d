/// How much a random measurement takes: `ratio` m/n, or the number of `rows` m itself.
#pragma once

#include "core/settings.h"

namespace penumbra {

/// m in 1..most, from exactly one of the two keys; m = floor(ratio n).
int64_t measurement_count(Settings& settings, int64_t n, int64_t most);

}  // namespace penumbra
