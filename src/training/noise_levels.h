/// The noise levels that training sees.
#pragma once

#include "core/settings.h"
#include "core/tensor.h"

namespace penumbra::training {

struct NoiseLevels {
  enum class Kind { log_uniform, log_normal };
  Kind kind = Kind::log_normal;
  double low = 0.005, high = 100;
  double median = 0.3, spread = 1.4;  ///< of the log-normal law; `spread` is the SD of ln sigma
  double uniform_share = 0.1;  ///< of the log-normal law's levels, drawn log-uniformly: the far ends need some too

  /// Levels for uniform numbers in (0, 1), float64.
  Tensor operator()(const Tensor& uniform) const;

  /// Edges of bands of equal ratio over [low, high], for validation.
  std::vector<double> bands(int64_t count) const;
};

NoiseLevels noise_levels_setting(Settings section);

}  // namespace penumbra::training
