/// What the bimodal experiment found, and its files.
#pragma once

#include "app/experiment.h"
#include "app/experiments/interferometry/analytic.h"
#include "app/experiments/interferometry/orientation_study.h"

namespace penumbra::app::interferometry {

struct BimodalResults {
  std::string prior;  ///< the learned one
  int64_t side = 0;   ///< of the analytic problem
  Annealed annealed;  ///< T1
  theory::ModeOdds
      odds;           ///< T1: of the chains' orientations, by the posterior's score; empty where all chains have one
  LadderOdds ladder;  ///< T1b, five stations
  theory::ModeOdds turned_odds;  ///< T1b: by the half turn alone
  Optimum first, second;         ///< T2: from m, from m turned
  std::vector<OrientationStudy> studies;
  Tensor truth;  ///< of the studies
  std::vector<Check> checks;
  double seconds = 0;
};

/// Of the annealed chains, those as the truth.
double share_of(const Annealed& annealed);

/// T1 and T2.
std::vector<Check> exact_checks(const BimodalResults& results);

/// T1 and T1b, by weights and not by the shares of chains.
std::vector<Check> weight_checks(const BimodalResults& results);

/// All files in the experiment's folder but the samples and their modes; prints the tables.
void write(const BimodalResults& results, const ExperimentOptions& options);

}  // namespace penumbra::app::interferometry
