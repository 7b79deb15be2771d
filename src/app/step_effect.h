/// What the run's step size did to its samples, as numbers and in a sentence (theory/step_bias.h).
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <optional>

#include "app/step_limits.h"
#include "diagnostics/verdict.h"
#include "theory/step_bias.h"

namespace penumbra::app {

/// Along one direction.
struct StepEffect {
  enum class Along { data, prior };  ///< which of the two is stiffest there
  Along along = Along::data;
  theory::Curvature curvature;
  theory::StepRule rule;
  theory::StepBias bias;
  double halving_step = 0;
};

/// Along the stiffest direction of the data and along that of the prior, whichever has the larger excess; measured at
/// the first of `points` in a mode, `centre` the mean image, [1, image]. Nothing where there is no stable curvature, as
/// between modes, or no bias to speak of because a Metropolis test takes it away.
std::optional<StepEffect> step_effect(const Problem& problem, const StepLimits& limits, const Tensor& points,
                                      const Tensor& centre);

/// `bias` of summary.json's diagnostics.step.
nlohmann::json to_json(const StepEffect& effect);

/// The clause of the step's verdict.
diagnostics::StepClause clause(const StepEffect& effect);

}  // namespace penumbra::app
