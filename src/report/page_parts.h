/// The fixed parts of every page: its style sheet and its script.
#pragma once

#include <string_view>

namespace penumbra::report {

extern const std::string_view page_style;
extern const std::string_view page_script;

}  // namespace penumbra::report
