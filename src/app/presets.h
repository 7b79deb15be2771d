/// The paper's parameters as presets: `sampler.preset: paper-cs-0.1`.
#pragma once

#include "core/settings.h"

namespace penumbra::app {

/// Puts the preset's values, for the sampler of this kind, where the section gives none.
void apply_preset(Settings& sampler, const std::string& kind);

}  // namespace penumbra::app
