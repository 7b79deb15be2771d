/// The learned prior of an experiment, with a digest of its weights for what is kept.
#pragma once

#include "priors/score.h"

namespace penumbra::app::interferometry {

inline const std::string prior_name = "blackhole-64";

struct Network {
  std::shared_ptr<const Score> prior;
  std::string digest;  ///< of its weights
};
Network read_network(const Placement& placement);

}  // namespace penumbra::app::interferometry
