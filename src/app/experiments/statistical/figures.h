/// The statistical validation in pictures.
#pragma once

#include "app/experiments/statistical/page.h"

namespace penumbra::app::statistical {

/// Exact and sampled means of one mode (0 or 1), or of all samples (nothing), on one colour scale.
std::vector<report::Figure> mean_pictures(const Results& results, std::optional<size_t> mode);
/// The same for the standard deviations.
std::vector<report::Figure> sd_pictures(const Results& results, std::optional<size_t> mode);

/// Share of the chains along the axis between the modes, beside the exact mixture's.
report::Chart share_chart(const Results& results, const Comparison& comparison);
/// Inside the fuller mode: histogram of the position along the axis, exact density, and the law's.
report::Chart profile_chart(const Results& results, const Comparison& comparison);

}  // namespace penumbra::app::statistical
