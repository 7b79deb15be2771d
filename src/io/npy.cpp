#include "io/npy.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <stdexcept>

#include "core/error.h"
#include "io/file.h"
#include "io/npy_data.h"

namespace penumbra::io {
namespace {

/// The type that copy_elements fills.
at::ScalarType type_of(const NpyHeader& header) {
  switch (header.kind) {
    case 'b':
      return at::kBool;
    case 'u':
      return header.item_size == 1 ? at::kByte : header.item_size == 2 ? at::kInt : at::kLong;
    case 'i':
      return header.item_size == 1   ? at::kChar
             : header.item_size == 2 ? at::kShort
             : header.item_size == 4 ? at::kInt
                                     : at::kLong;
    case 'f':
      return header.item_size == 2 ? at::kHalf : header.item_size == 4 ? at::kFloat : at::kDouble;
    default:
      return header.item_size == 8 ? at::kComplexFloat : at::kComplexDouble;
  }
}

std::string descr_of(at::ScalarType type) {
  switch (type) {
    case at::kBool:
      return "|b1";
    case at::kByte:
      return "|u1";
    case at::kChar:
      return "|i1";
    case at::kShort:
      return "<i2";
    case at::kInt:
      return "<i4";
    case at::kLong:
      return "<i8";
    case at::kHalf:
      return "<f2";
    case at::kFloat:
      return "<f4";
    case at::kDouble:
      return "<f8";
    case at::kComplexFloat:
      return "<c8";
    case at::kComplexDouble:
      return "<c16";
    default:
      throw std::invalid_argument(fmt::format("NPY has no type for {}", at::toString(type)));
  }
}

}  // namespace

Tensor read_npy(const std::filesystem::path& path) { return parse_npy(read_file(path), path.string()); }

Tensor parse_npy(std::span<const char> bytes, const std::string& name) {
  const auto file = open_npy(bytes, name);
  const auto& header = file.header;
  auto shape = header.shape;
  if (header.fortran_order) std::reverse(shape.begin(), shape.end());
  auto array = at::empty(shape, at::TensorOptions().dtype(type_of(header)));
  copy_elements(file, static_cast<char*>(array.data_ptr()), name);
  if (!header.fortran_order) return array;
  std::vector<int64_t> reversed(shape.size());
  for (size_t i = 0; i < shape.size(); ++i) reversed[i] = static_cast<int64_t>(shape.size() - 1 - i);
  return array.permute(reversed).contiguous();
}

void write_npy(const std::filesystem::path& path, const Tensor& array) { write_file(path, format_npy(array)); }

std::string format_npy(const Tensor& array) {
  const auto stored = array.detach().resolve_conj().resolve_neg().cpu().contiguous();
  auto bytes = format_npy_preamble(descr_of(stored.scalar_type()), {stored.sizes().data(), stored.sizes().size()});
  bytes.reserve(bytes.size() + stored.nbytes());
  bytes.append(static_cast<const char*>(stored.data_ptr()), stored.nbytes());
  return bytes;
}

}  // namespace penumbra::io
