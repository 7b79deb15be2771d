/// Where the images of the statistical validation come from: two classes with one covariance, and test images.
#pragma once

#include <filesystem>
#include <string>

#include "core/tensor.h"

namespace penumbra::app::statistical {

/// float64, values about [-1, 1], an image as a row of n = side^2 numbers.
struct Images {
  std::string source;  ///< in words
  Tensor means;        ///< of the two classes, [2, n]
  Tensor factor;       ///< F of the covariance F F^T + floor I, [n, r]
  double floor = 1e-3;
  Tensor candidates;  ///< test images, [count, n]
};

/// Built in: a smooth random field inside an oval, with the mean of a schematic face. The field is weak outside the
/// oval, as faces in front of a plain ground are: there the data cannot explain the shift of the classes away.
Images surrogate_images(int64_t side, uint64_t seed);

/// Every image of a folder and its sub-folders, averaged down; every fifth one is a candidate, the others make means
/// and covariance. The classes are the two halves along the first principal component.
Images folder_images(const std::filesystem::path& folder, int64_t side);

}  // namespace penumbra::app::statistical
