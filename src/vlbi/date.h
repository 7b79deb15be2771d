/// Days of observations: modified Julian dates and "2017-04-06".
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace penumbra::vlbi {

std::string date_of(int64_t mjd);

/// Nothing where the text is no day of the calendar.
std::optional<int64_t> mjd_of(const std::string& date);

}  // namespace penumbra::vlbi
