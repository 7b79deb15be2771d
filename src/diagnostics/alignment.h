/// Images moved onto one another by whole pixels: closures do not say where in the field a source is.
#pragma once

#include <vector>

#include "core/tensor.h"

namespace penumbra::diagnostics {

struct Shift {
  int64_t rows = 0, columns = 0;
};

struct Alignment {
  Tensor images;              ///< like the input, each rolled by its shift: what leaves on one side enters on the other
  std::vector<Shift> shifts;  ///< the light of the mean, whatever is below zero aside, ends up in the middle
};

/// Each of [N, C, H, W] is moved to where its correlation with the mean of all is largest, by at most `most` pixels
/// against the first image; means and shifts take turns until they agree.
Alignment align(const Tensor& images, int64_t most);

/// By how much `image` [C, H, W] is to be rolled, at most `most` pixels, so that its correlation with `reference` is
/// largest.
Shift shift_onto(const Tensor& image, const Tensor& reference, int64_t most);

}  // namespace penumbra::diagnostics
