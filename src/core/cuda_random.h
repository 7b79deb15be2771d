/// The generator of core/random.h on a GPU: noise is made where it is needed.
#pragma once

#include "core/random.h"
#include "core/random_kernels.h"

namespace penumbra {

/// Fills float32 or float64 numbers on a GPU; false where this build has no kernels, and nothing was done.
bool cuda_draw(cuda::Law law, const Cursor& at, Stream stream, Tensor& out);

}  // namespace penumbra
