/// Numbers as a reader wants them: few digits, 1e-3 instead of 0.001000.
#pragma once

#include <string>
#include <vector>

namespace penumbra::report {

/// Plain from 0.01 to 100,000, with a power of ten outside; trailing zeros are dropped.
std::string format_number(double value, int digits = 3);

/// Ticks of a linear axis, with as many decimals for all as the closest two need to differ.
std::vector<std::string> format_ticks(const std::vector<double>& ticks);

/// 75 s, 12 min 5 s, 2 h 3 min.
std::string format_duration(double seconds);

}  // namespace penumbra::report
