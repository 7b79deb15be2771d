/// Arrays of stations: ehtim's text files, and two that need no file.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "vlbi/observation.h"

namespace penumbra::vlbi {

/// Lines of name, x, y, z in metres and SEFD in Jy, then optionally the left hand's SEFD and what concerns
/// polarisation, which is not used; # begins a comment. Throws InputError that names the file, the line and the field.
std::vector<Station> read_array(const std::filesystem::path& path);
std::vector<Station> parse_array(const std::string& text, const std::string& name);

/// Whether the first line that is no comment has a name and four numbers.
bool begins_with_station(const std::string& text);

/// "EHT2017": the eight stations of that campaign with the SEFDs of its M87 observations; "EHT9": the nine of Sun &
/// Bouman (2021), two of them in one place. Nothing for other names.
std::optional<std::vector<Station>> known_array(const std::string& name);
std::vector<std::string> known_arrays();

}  // namespace penumbra::vlbi
