/// Text and bytes as they may stand in an HTML page.
#pragma once

#include <string>
#include <string_view>

namespace penumbra::report {

/// Safe as text and inside a quoted attribute, wherever it came from.
std::string escape(std::string_view text);

/// "data:image/png;base64,..."
std::string data_url(std::string_view bytes, std::string_view media_type);

/// A name that every file system takes and that needs no quoting: letters, digits, '-' and '_'.
std::string slug(std::string_view text);

}  // namespace penumbra::report
