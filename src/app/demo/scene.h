/// What `penumbra demo` shows: a truth, a measurement of it, and the posterior that is sampled.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace penumbra::app {

struct DemoScene {
  uint64_t seed;  ///< where the user names none
  /// The configuration, beside a folder `inputs`.
  std::string (*configuration)(bool quick, uint64_t seed);
  /// truth.npy and all that the configuration names in its folder `inputs`.
  void (*write_inputs)(const std::filesystem::path& inputs, uint64_t seed);
};

/// A black hole like M87's, seen by the Event Horizon Telescope through its closures alone. Needs CFITSIO.
const DemoScene& blackhole_scene();

/// A slice of a brain of which half of the pixels were measured, and none in a hole.
const DemoScene& brain_scene();

}  // namespace penumbra::app
