/// All closure terms at once on NVIDIA GPUs: our own kernel, float32, diagonal errors.
#pragma once

#include <memory>

#include "core/tensor.h"
#include "vlbi/closures.h"

namespace penumbra {

class CudaClosures {
 public:
  virtual ~CudaClosures() = default;

  struct Result {
    Tensor energy;  ///< [chains]
    Tensor pull;    ///< its derivative by V, shaped like it
  };
  /// V is [2 rows, chains], real parts above imaginary ones.
  virtual Result operator()(const Tensor& V) const = 0;
};

/// Terms of weight zero are left out. Null where this build or this placement has no kernel for them.
std::unique_ptr<const CudaClosures> cuda_closures(const vlbi::Closures& closures, double phase_weight,
                                                  double amplitude_weight, int64_t rows, double softening,
                                                  const Placement& placement);

}  // namespace penumbra
