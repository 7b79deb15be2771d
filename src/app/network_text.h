/// What a network's file says of itself, for people.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace penumbra::app {

/// The lines of `penumbra info` for a file with a header: `info` holds the header, the number of parameters and their
/// types.
std::string network_text(const nlohmann::json& info);

/// A stranger's text for a terminal: control characters are escaped.
std::string printable(const std::string& text);

}  // namespace penumbra::app
