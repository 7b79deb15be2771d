/// The observation that a configuration names: `data: obs.uvfits`, or `data: {file: obs.uvfits, ...}`.
#pragma once

#include <filesystem>

#include "core/settings.h"
#include "vlbi/observation.h"

namespace penumbra::vlbi {

/// Whether the visibilities themselves matter: a simulation needs only where and how well they are measured.
enum class Wanted { data, coverage };

/// `data.file` is UVFITS, prepared as vlbi/averaging.h says with the keys of `data`, or NPZ, taken as it is: arrays
/// time (h), i1, i2 (stations, from 0), u, v (wavelengths), vis (complex, Jy), sigma (Jy), below `data.group` where
/// that is given, as "B/vis". `data.values` (NPY, complex [m]) replaces the visibilities, as `penumbra observe` writes
/// them.
Observation load_observation(Settings& settings, Wanted wanted = Wanted::data);

/// An archive without compression (numpy.savez); rows are brought into the order of Observation::visibilities.
Observation read_npz_observation(const std::filesystem::path& path, const std::string& group);

/// The groups of such an archive; one without a name for arrays that are in none.
std::vector<std::string> npz_groups(const std::filesystem::path& path);

}  // namespace penumbra::vlbi
