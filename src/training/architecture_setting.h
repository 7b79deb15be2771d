/// The section `network` of a training configuration: which network, of what size.
#pragma once

#include <nlohmann/json.hpp>

#include "core/settings.h"

namespace penumbra::training {

/// Options as Architecture takes them, every default recorded in the configuration.
nlohmann::json architecture_setting(Settings section, int64_t channels);
/// The same for a network that reconstructs.
nlohmann::json varnet_setting(Settings section, int64_t channels);

}  // namespace penumbra::training
