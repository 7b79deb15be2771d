/// Statistics of draws, a block of pixels at a time, so that memory stays bounded whatever the image.
#pragma once

#include <functional>

#include "core/tensor.h"

namespace penumbra::diagnostics {

/// Draws of one block of pixels [T, chains, pixels], float64 on the CPU -> [..., pixels].
using Statistic = std::function<Tensor(const Tensor& block)>;

/// The statistic of draws [T, chains, pixel shape...], as [..., pixel shape...]. Throws unless there are draws.
Tensor by_blocks(const Tensor& draws, const Statistic& statistic);

/// Pixels whose draws are all the same number, [pixels]. Exact: no variance to round.
Tensor is_constant(const Tensor& block);

/// Pixels whose draws are all finite, [pixels].
Tensor is_finite(const Tensor& block);

/// Unbiased, along one dimension of extent 2 or more.
Tensor variance(const Tensor& x, int64_t dim);

}  // namespace penumbra::diagnostics
