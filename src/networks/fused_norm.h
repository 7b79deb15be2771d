/// Group normalisation, scale-shift and SiLU as one operation, the only one of a U-Net that is bound by memory.
#pragma once

#include "networks/pixel_ops.h"

namespace penumbra {

struct NormalizationTerms {
  Tensor weight, bias;  ///< [channels], float32
  Tensor film;          ///< [N, 2 channels], scale then shift, float32; undefined: none
  int64_t groups = 32;
  bool activate = true;
  double epsilon = 1e-5;
  Resample resample = Resample::none;  ///< of the result
};

/// f(group_norm(x) (1 + scale) + shift), f = SiLU or the identity, resampled; x is the parts' channels one after the
/// other, each with its bias. In x's type and memory format, statistics in float32. Differentiable. On CUDA in
/// channels-last memory it is our own kernels, else it is put together from LibTorch's operations.
Tensor normalise(at::ArrayRef<Features> parts, const NormalizationTerms& terms);

/// The same from LibTorch's operations alone: the reference for tests, and for types that the fused one does not know.
Tensor normalise_plainly(const Tensor& x, const NormalizationTerms& terms);

}  // namespace penumbra
