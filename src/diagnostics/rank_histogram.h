/// Histograms of numbers that ought to be uniform in (0, 1), and what chance makes of them.
#pragma once

#include "core/tensor.h"

namespace penumbra::diagnostics {

/// At least ten expected in a bin, where there are enough: the chi-square law then holds well.
int64_t bin_count(int64_t simulations);

/// How many of place [simulations, statistics] are in each of equal bins: [bins, statistics].
Tensor bin_counts(const Tensor& place);

/// P(chi^2 with these degrees of freedom > value), float64.
Tensor chi_square_tail(const Tensor& value, int64_t degrees);

/// Chi-square p-values of uniform histograms, counts [bins, statistics] -> [statistics].
Tensor uniform_p(const Tensor& counts);

/// p-values below it count as uneven.
constexpr double uneven_p = 0.01;

/// A calibrated sampler has more uneven statistics than this with a probability of about 2 %.
///
/// Were they independent, their number would be binomial: 3 of 100. Statistics of one image are not, so the number is
/// also found from histograms of normal numbers with the correlations that the places show.
int64_t allowed_uneven(const Tensor& place);

}  // namespace penumbra::diagnostics
