/// Differences between neighbouring pixels, of which total variation is made.
#pragma once

#include "core/tensor.h"

namespace penumbra {

/// Forward differences, zero at the far edge: [N, C, H, W] -> [2, N, C, H, W].
Tensor differences(const Tensor& x);

/// Their adjoint, for fields that are zero at the far edge.
Tensor adjoint_differences(const Tensor& p);

}  // namespace penumbra
