/// Likelihoods of data that they simulate themselves, for checks of a sampler on truths that are known.
#pragma once

#include "likelihoods/likelihood.h"

namespace penumbra {

/// Whether the data of several truths can stand side by side in one batch of chains.
bool takes_many_measurements(const Likelihood& likelihood);

/// Draws y ~ l(y|x) for each of the truths [count, image], for the seed and first truth of `at`, and returns l(y| ).
/// A batch holds `chains` chains of the first truth, then of the second, and so on; for one truth any number of chains.
/// The likelihood may be one that was made without data (Purpose::simulate).
std::shared_ptr<const Likelihood> given_simulated(const std::shared_ptr<const Likelihood>& likelihood,
                                                  const Tensor& truths, int64_t chains, const Cursor& at);

}  // namespace penumbra
