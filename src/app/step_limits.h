/// The largest step for which the chains are stable, and the largest for which a theorem holds.
#pragma once

#include <optional>

#include "app/wiring.h"
#include "theory/bounds.h"

namespace penumbra::app {

/// The theorem that covers the configured sampler, if any does.
std::optional<theory::Theorem> covering_theorem(const Problem& problem);

/// What limits stability: between the modes of a mixture the score pushes apart and cannot make a step unstable, so a
/// mixture is as stiff as its stiffest component. L_sigma itself for a prior that is no mixture.
double stability_constant(const Problem& problem, double sigma, double L_sigma);

struct StepLimits {
  std::optional<double> lipschitz_likelihood, lipschitz_prior;  ///< L_g, and L_sigma at the last sigma
  std::optional<double> stability_settled;  ///< once the schedule has settled: this is what shapes the samples
  std::optional<double> stability;          ///< over the whole schedule: above it iterates can grow on the way
  std::optional<double> theorem;            ///< where a theorem covers the sampler
  Tensor
      stiff_prior;  ///< directions along which the score changes most at the last sigma, one a point; undefined: none
};

/// Where the constants are measured, which takes a network hundreds of evaluations each.
enum class Levels {
  all,      ///< a few from the first of the schedule to the last
  settled,  ///< the last alone: no `stability`, no `theorem`
};

/// A quick estimate, the constants measured at `points`; `penumbra certify` takes more care. Empty for what is no
/// Langevin chain.
StepLimits step_limits(const Problem& problem, const Tensor& points, Levels which);

}  // namespace penumbra::app
