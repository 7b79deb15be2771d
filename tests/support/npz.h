/// NumPy's archives, compressed or not: golden data comes in them.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "core/tensor.h"

namespace penumbra::test {

/// Arrays of text are left out.
std::map<std::string, Tensor> read_npz(const std::filesystem::path& path);

}  // namespace penumbra::test
