/// The weights of a run's modes: odds from the posterior's score where they can be had and trusted, else shares of the
/// samples (docs/mode-weights.md).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "app/modes_plan.h"
#include "samplers/sampler.h"
#include "theory/mode_odds.h"

namespace penumbra::app {

/// The score that the samples were drawn with at the end of the run.
struct OddsSource {
  theory::ScoreField score = {};  ///< empty: there is none
  double sigma = 0;
  std::string missing = {};  ///< why there is none
};

/// S(x, sigma) - grad g(x) at the sigma of the sampler's last step.
OddsSource odds_source(const Posterior& posterior, const Sampler& sampler, int64_t steps, const Placement& placement);

struct ModeWeights {
  diagnostics::Modes modes;  ///< with the weights that were chosen
  bool by_odds = false;
  bool doubted = false;        ///< odds were computed and not trusted
  std::string why;             ///< not by odds; empty where nothing else was asked for
  std::vector<double> shares;  ///< of the samples, mode by mode
  theory::ModeOdds odds;       ///< empty where none were computed; numbers of modes as in `modes`
  double sigma = 0;
};

/// One mode has the weight 1 and needs no odds.
ModeWeights weigh_modes(const diagnostics::Modes& found, const std::vector<diagnostics::TermFit>& fits,
                        const ModesPlan& plan, const OddsSource& source, uint64_t seed);

/// `weights` of modes.json and summary.json.
nlohmann::json describe_weights(const ModeWeights& weights);

}  // namespace penumbra::app
