/// The update that PMC's algorithms end with.
#pragma once

#include "core/random.h"
#include "samplers/step_numbers.h"

namespace penumbra {

/// x - gamma (grad g - alpha S) + noise z, z drawn for (at.seed, at.first_chain, k of the numbers). One pass over the
/// images on a GPU in float32.
Tensor langevin_update(const Tensor& x, const Tensor& grad_g, const Tensor& score, const StepScalars& numbers,
                       const Cursor& at);

}  // namespace penumbra
