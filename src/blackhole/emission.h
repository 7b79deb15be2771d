/// The light of a scene along every ray of a sky: transparent matter, all of it seen at one time.
#pragma once

#include <vector>

#include "blackhole/scene.h"
#include "blackhole/sky.h"

namespace penumbra::blackhole {

/// Intensities [rings, directions], in units of no account: I = int j g^power (r^2 + a^2 cos^2 theta) d tau.
std::vector<float> emission(const Scene& scene, const Turbulence& turbulence, const Sky& sky);

}  // namespace penumbra::blackhole
