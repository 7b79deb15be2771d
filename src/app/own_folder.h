/// Nobody's file is written over: a command takes a folder that is new, empty or its own.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace penumbra::app {

/// Throws InputError, naming what is there and what was `expected`, where the folder holds more than these names.
void require_nothing_but(const std::filesystem::path& folder, const std::vector<std::string>& names,
                         const std::string& expected);

/// Throws InputError unless a run may begin in the folder or is there already; `prepared` is what the caller laid there
/// for it.
void require_place_of_run(const std::filesystem::path& folder, const std::vector<std::string>& prepared = {});

}  // namespace penumbra::app
