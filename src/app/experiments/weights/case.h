/// One posterior of the weights experiment: samples, exact odds, and the odds that the score gives.
#pragma once

#include <string>
#include <vector>

#include "app/experiments/text_table.h"
#include "priors/gaussian_mixture.h"
#include "samplers/posterior.h"
#include "theory/mode_odds.h"

namespace penumbra::app::weights {

struct Case {
  std::string name;
  double exact = 0;             ///< log-odds of the first mode at the smoothing of the chains
  double exact_unsmoothed = 0;  ///< and of the posterior itself
  int64_t modes = 0;            ///< found by clustering
  double share = 0;             ///< of the samples in the first mode
  double log_odds = 0, error = 0;
  theory::ModeOdds odds;
  double sampling_seconds = 0, odds_seconds = 0;

  bool known() const { return !odds.pairs.empty(); }
  double exact_weight() const;
  double weight() const;  ///< of the first mode: by odds where trusted, else its share
};

/// Sorts the samples [N, image] into modes and finds the odds of the first component of `exact`, the posterior at the
/// smoothing of the chains; of its formula only the places of its modes are used, to tell which is which.
Case weigh(const std::string& name, const theory::ScoreField& score, const Tensor& samples,
           const GaussianMixture& exact, uint64_t seed);

/// log(w_1 / w_2).
double log_odds(const GaussianMixture& mixture);

/// Every case by its log-odds.
TextTable odds_table(const std::vector<Case>& cases);

}  // namespace penumbra::app::weights
