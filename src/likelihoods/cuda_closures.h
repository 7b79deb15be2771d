/// All closure terms at once on NVIDIA GPUs: our own kernel, float32, diagonal errors.
#pragma once

#include <memory>

#include "core/tensor.h"
#include "likelihoods/closure_sums.h"

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
  virtual std::unique_ptr<const CudaClosures> with(const MoreNoise& more) const = 0;
};

/// Terms of weight zero are left out.
struct CudaClosureOptions {
  double phase_weight = 0, amplitude_weight = 0;
  double softening = 0;
};

/// Null where this build or this placement has no kernel for them.
std::unique_ptr<const CudaClosures> cuda_closures(const vlbi::Closures& closures, const std::vector<double>& sds,
                                                  const CudaClosureOptions& options, const Placement& placement);

}  // namespace penumbra
