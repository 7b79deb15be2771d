/// What a run was begun with, beyond its configuration: a run goes on only with the same.
#pragma once

#include <filesystem>

#include "app/wiring.h"

namespace penumbra::app {

/// Writes RUN/provenance.json: device, LibTorch, the type in which a network computes, and a checksum of every file
/// that the configuration names.
void write_provenance(const std::filesystem::path& folder, const Problem& problem);

/// Throws InputError naming what has changed since.
void require_same_provenance(const std::filesystem::path& folder, const Problem& problem);

}  // namespace penumbra::app
