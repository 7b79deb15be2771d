/// Weighted samples: how many of them count, and as many unweighted ones in their place.
#pragma once

#include "core/random.h"

namespace penumbra {

/// (sum w)^2 / sum w^2 for log weights [N]: N where they are equal, 1 where one has all.
double effective_count(const Tensor& log_weight);

/// log((1/N) sum exp(log_weight)).
double log_mean_exp(const Tensor& log_weight);

/// Numbers [N], int64, of the samples that take the places 0 to N - 1: systematic resampling (Carpenter, Clifford and
/// Fearnhead 1999) with one uniform number, so that a sample of weight w is taken floor(N w) or ceil(N w) times. A
/// sample that is taken at all keeps its own place once.
Tensor systematic_resampling(const Tensor& log_weight, const Cursor& at);

}  // namespace penumbra
