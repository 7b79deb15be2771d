/// LibTorch's types and ours in the words of the kernels.
#pragma once

#include "networks/norm_kernels.h"
#include "networks/pixel_ops.h"

namespace penumbra {

inline bool kernels_know(at::ScalarType type) {
  return type == at::kFloat || type == at::kBFloat16 || type == at::kHalf;
}

inline cuda::Element element_of(at::ScalarType type) {
  return type == at::kBFloat16 ? cuda::Element::bfloat16
         : type == at::kHalf   ? cuda::Element::float16
                               : cuda::Element::float32;
}

inline cuda::Resample resample_of(Resample resample) {
  return resample == Resample::up     ? cuda::Resample::up
         : resample == Resample::down ? cuda::Resample::down
                                      : cuda::Resample::none;
}

}  // namespace penumbra
