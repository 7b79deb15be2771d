/// What is asked of the samples once a run is done: the configuration's section `modes` (docs/modes.md).
#pragma once

#include <optional>

#include "core/settings.h"
#include "diagnostics/modes.h"
#include "diagnostics/ring.h"

namespace penumbra::app {

struct ModesPlan {
  diagnostics::ModeOptions options;
  double perplexity = 20;
  bool only_fitting = false;  ///< samples that the posterior does not have, by their misfit, are left out
  bool odds = true;           ///< weights from the posterior's score (docs/mode-weights.md), else the shares of samples
  int64_t odds_samples = 100;                    ///< of each mode, at most
  std::optional<diagnostics::RingOptions> ring;  ///< of images of the sky
};

/// Interferometers' images are sorted into modes by themselves, others where the section is given.
std::optional<ModesPlan> modes_setting(Settings& settings, Settings& likelihood, const Shape& image_shape);

}  // namespace penumbra::app
