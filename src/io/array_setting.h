/// An array in a configuration: a number, a list of numbers, or the name of an NPY file.
#pragma once

#include <string>

#include "core/settings.h"
#include "core/tensor.h"

namespace penumbra::io {

/// `shape` without a chain dimension; a single number fills it, a list must have exactly its elements.
Tensor array_setting(Settings& settings, const std::string& key, const Shape& shape);

/// [channels, height, width] from `image_shape: [1, 64, 64]`.
Shape image_shape_setting(Settings& settings);

}  // namespace penumbra::io
