/// `observation:` of a configuration: the interferometer, the source and the errors with which `penumbra observe` makes
/// visibilities of an image (docs/interferometry.md).
#pragma once

#include <cstdint>
#include <filesystem>

#include "core/settings.h"
#include "vlbi/observation.h"

namespace penumbra::app {

/// What that section's array sees of the image in `truth`: FITS, ehtim's text, or any other image with `fov`.
vlbi::Observation simulate_sky(Settings& observation, const std::filesystem::path& truth, uint64_t seed);

}  // namespace penumbra::app
