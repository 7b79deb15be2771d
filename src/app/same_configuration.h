/// A run goes on with the configuration it was begun with.
#pragma once

#include <filesystem>
#include <string>

namespace penumbra::app {

/// Throws InputError, with the first line that differs, unless the file holds the resolved configuration.
void require_same_configuration(const std::filesystem::path& file, const std::string& resolved);

}  // namespace penumbra::app
