/// The skies that an experiment looks at: black holes that no training saw.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/tensor.h"

namespace penumbra::app::interferometry {

struct Truths {
  Tensor images;  ///< float64 [images, 1, side, side], the brightest pixel of each at most 1
  std::vector<std::string> names;
  std::string source;  ///< in words
};

/// Of our own generator. Its seed is a million away from those of priors/*.yaml, so that no prior was trained on them.
Truths generated_truths(int64_t count, int64_t side, uint64_t seed);

/// FITS, ehtim's text, NPY, PNG and JPEG files of a folder and the folders in it, in the order of their names, `count`
/// of them evenly spread: each as area means on the grid, no pixel below zero, the brightest 1. How large a field a
/// file says that it shows does not matter: shapes count.
Truths folder_truths(const std::filesystem::path& folder, int64_t count, int64_t side);

}  // namespace penumbra::app::interferometry
