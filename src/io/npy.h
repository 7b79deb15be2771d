/// Arrays as NPY files (format 1.0 to 3.0): C or Fortran order, little endian, read without trusting the file.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "core/tensor.h"

namespace penumbra::io {

/// Throws InputError naming the file on anything but a well-formed array of numbers (bool, integer, float, complex).
Tensor read_npy(const std::filesystem::path& path);

/// The same from memory; `name` stands for the file in messages.
Tensor parse_npy(std::span<const char> bytes, const std::string& name);

/// Writes atomically: C order, little endian, the tensor's own type.
void write_npy(const std::filesystem::path& path, const Tensor& array);

/// The bytes that write_npy writes.
std::string format_npy(const Tensor& array);

}  // namespace penumbra::io
