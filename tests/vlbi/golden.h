/// Golden observations of M87 beside the checkout, and small synthetic ones.
#pragma once

#include <nlohmann/json.hpp>

#include <map>
#include <string>
#include <vector>

#include "core/tensor.h"
#include "vlbi/closures.h"

namespace penumbra::test {

using Arrays = std::map<std::string, Tensor>;

/// All whose files are beside the checkout, more days too; where there are none, the names of those that skip.
std::vector<std::string> golden_observations();

/// The observation in the arrays time, tint, i1, i2, u, v, vis, sigma below `group` ("B/vis/"); tint may be missing.
vlbi::Observation observation_in(const Arrays& arrays, const std::string& group);

/// The closures that a bimodal file lists: cp and la, with the rows of its visibilities.
vlbi::Closures closures_in(const Arrays& arrays);

/// Counts, parameters and chi^2 of all golden observations.
nlohmann::json golden_summary();

/// `stations` on an Earth of one radius that turns below the source, `times` snapshots of all baselines, longest about
/// 8 Glambda; V = 1 Jy and sd = 0.01 Jy everywhere.
vlbi::Observation synthetic_observation(int stations, int times);

}  // namespace penumbra::test
