/// Coil sensitivities from the fully sampled centre of k-space: ESPIRiT (Uecker et al., MRM 71:990, 2014), one map.
#pragma once

#include "core/tensor.h"

namespace penumbra {

struct EspiritOptions {
  int64_t kernel = 6;       ///< side of the patches of k-space
  double threshold = 0.02;  ///< singular values below this part of the largest are noise
  double crop = 0.95;       ///< where the largest eigenvalue is below this, no coil sees anything
};

/// Maps [coils, H, W], complex128, for a scan of [height, width] from its centre, [coils, h, w] with the zero frequency
/// at [h/2, w/2]. The sum of |S_c|^2 is 1 where there is signal and 0 elsewhere. The phase, which the data leave open,
/// is that at which the centre's first principal component over the coils is real and positive.
Tensor espirit_maps(const Tensor& centre, int64_t height, int64_t width, const EspiritOptions& options = {});

}  // namespace penumbra
