/// The bytes of an NPY file, checked against its header and put into the machine's own types; knows no tensors.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "io/npy_header.h"

namespace penumbra::io {

inline constexpr std::string_view npy_magic = "\x93NUMPY";

/// A well-formed file: the data has exactly the size that the header says.
struct NpyFile {
  NpyHeader header;
  std::string_view data;
};

/// Throws InputError, with `name` for the file, where it is not well-formed.
NpyFile open_npy(std::span<const char> bytes, const std::string& name);

/// The header alone, from a file's first bytes (at most 1 MiB and 12 are needed): what is in a large file before it is
/// read. Throws as open_npy does.
NpyHeader parse_npy_beginning(std::span<const char> bytes, const std::string& name);

/// Bytes of one element in memory. Unsigned types above one byte become the next larger signed one (LibTorch 1.13 has
/// no others), 64 bits stay.
int64_t size_in_memory(const NpyHeader& header);

/// Copies the elements, in the file's order, to `out`, which has room for all. Throws InputError on an unsigned number
/// above 2^63 - 1.
void copy_elements(const NpyFile& file, char* out, const std::string& name);

/// Everything before the data of a file in format 1.0, C order.
std::string format_npy_preamble(const std::string& descr, std::span<const int64_t> shape);

}  // namespace penumbra::io
