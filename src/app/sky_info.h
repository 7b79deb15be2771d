/// What `penumbra info` says about FITS files and images of the sky.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

namespace penumbra::app {

/// Whether a file is FITS, or ehtim's text.
bool looks_like_sky(const std::filesystem::path& path);

/// Whether a FITS file holds visibilities rather than an image.
bool is_uvfits(const std::filesystem::path& path);

/// Visibilities as describe_uvfits does, or the size of an image, or of several in one file.
nlohmann::json describe_sky(const std::filesystem::path& path);

}  // namespace penumbra::app
