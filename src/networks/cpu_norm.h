/// The fused normalisation on CPUs, for inference.
#pragma once

#include "networks/fused_norm.h"

namespace penumbra {

/// Whether these tensors can use it: CPU, channels-last, float32 or bfloat16, nothing to differentiate.
bool cpu_norm_serves(const Tensor& x, const NormalizationTerms& terms);

Tensor cpu_normalise(const Tensor& x, const NormalizationTerms& terms);

}  // namespace penumbra
