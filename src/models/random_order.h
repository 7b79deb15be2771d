/// A shuffle that is the same on every machine.
#pragma once

#include "core/random.h"

namespace penumbra {

/// 0 to count - 1, [count], in an order that `at` alone decides.
Tensor random_order(int64_t count, const Cursor& at);

}  // namespace penumbra
