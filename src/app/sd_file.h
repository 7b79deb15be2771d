/// x.sd.json, the prior's SD pixel by pixel, which is read from beside x.safetensors (docs/weights.md).
#pragma once

#include <filesystem>
#include <string>

#include "networks/header.h"

namespace penumbra::app {

/// Throws InputError, before the work, where a file of this name would not be read or cannot be written.
void require_sd_file(const std::string& option, const std::filesystem::path& file);

/// Writes it, and its name to stdout.
void write_sd_file(const std::filesystem::path& file, const PixelSpread& spread);

}  // namespace penumbra::app
