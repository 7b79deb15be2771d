/// Methods that a user wants compared: a YAML file, name by name a sampler's kind and its own keys.
#pragma once

#include "app/experiments/linear/method.h"

namespace penumbra::app::linear {

/// PnP and RED take the denoiser, as in the experiments' own list.
std::vector<Method> read_methods(const std::filesystem::path& path);

}  // namespace penumbra::app::linear
