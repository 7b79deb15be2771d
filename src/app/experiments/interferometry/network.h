/// The learned prior of an experiment, with a digest of its weights for what is kept.
#pragma once

#include "app/experiment.h"
#include "priors/score.h"

namespace penumbra::app::interferometry {

struct Network {
  std::string name;
  std::shared_ptr<const Score> prior;
  std::string digest;  ///< of its weights
};
Network read_network(const ExperimentOptions& options, const Placement& placement);

}  // namespace penumbra::app::interferometry
