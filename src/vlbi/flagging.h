/// What somebody who knows an observation leaves out of it: stations, baselines, hours.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/settings.h"
#include "vlbi/observation.h"

namespace penumbra::vlbi {

struct Flags {
  std::vector<std::string> stations = {};
  std::vector<std::string> baselines = {};            ///< as "AA-AP", whichever station comes first
  std::vector<std::pair<double, double>> hours = {};  ///< as Visibility::time has them; both ends are flagged too

  /// The keys that are given, for messages; empty where nothing is flagged.
  std::string keys() const;
};

/// `stations`, `baselines` and `hours`, each of which may be left out.
Flags flags_setting(Settings& settings);

/// The visibilities that no flag is on. Throws InputError on stations that the observation does not have, and where
/// nothing is left; `name` stands for the data in messages.
std::vector<Visibility> unflagged(const Observation& observation, const Flags& flags, const std::string& name);

}  // namespace penumbra::vlbi
