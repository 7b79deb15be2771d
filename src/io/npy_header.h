/// The header of an NPY file: a Python dictionary literal, read by hand and never evaluated.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace penumbra::io {

struct NpyHeader {
  char byte_order = '<';  ///< '<' or '>'
  char kind = 'f';        ///< b, i, u, f or c
  int64_t item_size = 8;  ///< bytes
  bool fortran_order = false;
  std::vector<int64_t> shape;
};

/// `text` is the dictionary; throws InputError "name: field: ..." where it is not one of numbers.
NpyHeader parse_npy_header(std::string_view text, const std::string& name);

}  // namespace penumbra::io
