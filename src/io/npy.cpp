#include "io/npy.h"

#include <ATen/ATen.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "core/error.h"
#include "io/file.h"
#include "io/npy_header.h"

namespace penumbra::io {
namespace {

static_assert(std::endian::native == std::endian::little, "arrays are written in the machine's byte order");

constexpr std::string_view magic = "\x93NUMPY";
constexpr size_t largest_header = 1 << 20;

uint64_t little_endian(std::string_view bytes) {
  uint64_t number = 0;
  for (size_t i = bytes.size(); i-- > 0;) number = number << 8 | static_cast<unsigned char>(bytes[i]);
  return number;
}

/// Splits the file into the header's text and the array's bytes.
std::pair<std::string_view, std::string_view> split(std::string_view bytes, const std::string& name) {
  if (!bytes.starts_with(magic)) input_error("{}: expected an NPY file (it begins with \\x93NUMPY)", name);
  bytes.remove_prefix(magic.size());
  if (bytes.size() < 2) input_error("{}: version: the file is truncated", name);
  const int version = static_cast<unsigned char>(bytes[0]);
  if (version < 1 || version > 3) input_error("{}: version: expected 1, 2 or 3, found {}", name, version);
  bytes.remove_prefix(2);
  const size_t width = version == 1 ? 2 : 4;
  if (bytes.size() < width) input_error("{}: header length: the file is truncated", name);
  const auto length = little_endian(bytes.substr(0, width));
  bytes.remove_prefix(width);
  if (length > largest_header)
    input_error("{}: header length: expected at most {} bytes, found {}", name, largest_header, length);
  if (length > bytes.size())
    input_error("{}: header: the file is truncated: expected {} bytes, found {}", name, length, bytes.size());
  return {bytes.substr(0, length), bytes.substr(length)};
}

/// Throws unless the data has exactly the size that the header says. Empty dimensions count as one in the test for
/// overflow, since the strides of an empty tensor are computed all the same.
void check_size(const NpyHeader& header, size_t found, const std::string& name) {
  int64_t expected = header.item_size, extent = header.item_size;
  for (const auto d : header.shape) {
    if (__builtin_mul_overflow(extent, std::max<int64_t>(d, 1), &extent))
      input_error("{}: shape: ({}) is too large", name, fmt::join(header.shape, ", "));
    expected *= d;
  }
  if (static_cast<uint64_t>(expected) != found)
    input_error("{}: data: expected {} bytes for shape ({}), found {}{}", name, expected, fmt::join(header.shape, ", "),
                found, found < static_cast<uint64_t>(expected) ? " (the file is truncated)" : "");
}

/// LibTorch 1.13 has no unsigned types above one byte; the next larger signed one holds them.
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

void swap_bytes(char* data, size_t size, size_t width) {
  for (size_t i = 0; i < size; i += width) std::reverse(data + i, data + i + width);
}

template <typename From, typename To>
void widen(const std::string& bytes, To* out, const std::string& name) {
  for (size_t i = 0; i < bytes.size() / sizeof(From); ++i) {
    From number;
    std::memcpy(&number, bytes.data() + i * sizeof(From), sizeof(From));
    if (!std::in_range<To>(number)) input_error("{}: data: expected integers below 2^63, found {}", name, number);
    out[i] = static_cast<To>(number);
  }
}

void fill(Tensor& array, const NpyHeader& header, std::string_view data, const std::string& name) {
  const bool is_wide = header.kind == 'u' && header.item_size > 1;
  std::string copy;
  if (is_wide) copy = data;
  auto* out = is_wide ? copy.data() : static_cast<char*>(array.data_ptr());
  if (!is_wide && !data.empty()) std::memcpy(out, data.data(), data.size());
  if (header.byte_order == '>')
    swap_bytes(out, data.size(), header.kind == 'c' ? header.item_size / 2 : header.item_size);
  // A bool that is neither 0 nor 1 is undefined behaviour wherever it is read.
  if (header.kind == 'b') std::transform(out, out + data.size(), out, [](char byte) { return byte != 0; });
  if (!is_wide) return;
  if (header.item_size == 2) widen<uint16_t>(copy, array.data_ptr<int32_t>(), name);
  if (header.item_size == 4) widen<uint32_t>(copy, array.data_ptr<int64_t>(), name);
  if (header.item_size == 8) widen<uint64_t>(copy, array.data_ptr<int64_t>(), name);
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
  const auto [text, data] = split({bytes.data(), bytes.size()}, name);
  const auto header = parse_npy_header(text, name);
  check_size(header, data.size(), name);
  auto shape = header.shape;
  if (header.fortran_order) std::reverse(shape.begin(), shape.end());
  auto array = at::empty(shape, at::TensorOptions().dtype(type_of(header)));
  fill(array, header, data, name);
  if (!header.fortran_order) return array;
  std::vector<int64_t> reversed(shape.size());
  for (size_t i = 0; i < shape.size(); ++i) reversed[i] = static_cast<int64_t>(shape.size() - 1 - i);
  return array.permute(reversed).contiguous();
}

void write_npy(const std::filesystem::path& path, const Tensor& array) { write_file(path, format_npy(array)); }

std::string format_npy(const Tensor& array) {
  const auto stored = array.detach().resolve_conj().resolve_neg().cpu().contiguous();
  const auto shape = stored.sizes();
  auto header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", descr_of(stored.scalar_type()),
                  fmt::join(shape.begin(), shape.end(), ", "), shape.size() == 1 ? "," : "");
  // The data begins at a multiple of 64 bytes, as NumPy writes it; format 1.0 has ten bytes before the header.
  constexpr size_t alignment = 64, preamble = 10;
  header.append(alignment - 1 - (preamble + header.size()) % alignment, ' ');
  header += '\n';

  std::string bytes(magic);
  bytes.reserve(preamble + header.size() + stored.nbytes());
  bytes += {1, 0, static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  bytes += header;
  bytes.append(static_cast<const char*>(stored.data_ptr()), stored.nbytes());
  return bytes;
}

}  // namespace penumbra::io
