/// What `penumbra info` says about k-space.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

#include "io/kspace.h"

namespace penumbra::app {

/// Whether a file is one that a scanner's program writes: BART's pair, or HDF5.
bool looks_like_scan(const std::filesystem::path& path);

/// Shape, coils, slices, mask and notes of a file that looks like a scan. BART's arrays that are no k-space are
/// described as arrays.
nlohmann::json describe_scan(const std::filesystem::path& path);

/// Coils, slices, what was acquired and the fully sampled centre.
nlohmann::json describe_kspace(const io::Kspace& kspace);

}  // namespace penumbra::app
