/// What `penumbra info` says about an interferometer's visibilities and images of the sky.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

namespace penumbra::app {

/// Whether a file is FITS, or ehtim's text.
bool looks_like_sky(const std::filesystem::path& path);

/// Whether a FITS file holds visibilities rather than an image.
bool is_uvfits(const std::filesystem::path& path);

/// Source, stations, scans, baselines and what a preparation with the usual settings leaves; or an image's size.
nlohmann::json describe_sky(const std::filesystem::path& path);

}  // namespace penumbra::app
