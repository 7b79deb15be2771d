/// What a chart draws inside its axes.
#pragma once

#include <string>

#include "report/chart.h"

namespace penumbra::report {

/// The SVG elements of one series in one colour, its band first.
std::string marks(const Series& series, const Scale& x, const Scale& y, const std::string& colour);

}  // namespace penumbra::report
