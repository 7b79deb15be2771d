#include "io/npy_data.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "core/error.h"

namespace penumbra::io {
namespace {

static_assert(std::endian::native == std::endian::little, "arrays are written in the machine's byte order");

constexpr size_t largest_npy_header = 1 << 20;

uint64_t little_endian(std::string_view bytes) {
  uint64_t number = 0;
  for (size_t i = bytes.size(); i-- > 0;) number = number << 8 | static_cast<unsigned char>(bytes[i]);
  return number;
}

/// Splits the file into the header's text and the array's bytes.
std::pair<std::string_view, std::string_view> split(std::string_view bytes, const std::string& name) {
  if (!bytes.starts_with(npy_magic)) input_error("{}: expected an NPY file (it begins with \\x93NUMPY)", name);
  bytes.remove_prefix(npy_magic.size());
  if (bytes.size() < 2) input_error("{}: version: the file is truncated", name);
  const int version = static_cast<unsigned char>(bytes[0]);
  if (version < 1 || version > 3) input_error("{}: version: expected 1, 2 or 3, found {}", name, version);
  bytes.remove_prefix(2);
  const size_t width = version == 1 ? 2 : 4;
  if (bytes.size() < width) input_error("{}: header length: the file is truncated", name);
  const auto length = little_endian(bytes.substr(0, width));
  bytes.remove_prefix(width);
  if (length > largest_npy_header)
    input_error("{}: header length: expected at most {} bytes, found {}", name, largest_npy_header, length);
  if (length > bytes.size())
    input_error("{}: header: the file is truncated: expected {} bytes, found {}", name, length, bytes.size());
  return {bytes.substr(0, length), bytes.substr(length)};
}

/// Empty dimensions count as one in the test for overflow, since a tensor's strides are computed all the same.
void check_size(const NpyFile& file, const std::string& name) {
  const auto& [header, data] = file;
  const auto shape = fmt::format("{}", fmt::join(header.shape, ", "));
  int64_t expected = header.item_size, extent = size_in_memory(header);
  for (const auto d : header.shape) {
    if (__builtin_mul_overflow(extent, std::max<int64_t>(d, 1), &extent))
      input_error("{}: shape: ({}) is too large", name, shape);
    expected *= d;
  }
  const auto wanted = static_cast<uint64_t>(expected);
  if (data.size() != wanted)
    input_error("{}: data: expected {} bytes for shape ({}), found {}{}", name, wanted, shape, data.size(),
                data.size() < wanted ? " (the file is truncated)" : "");
}

void swap_bytes(char* data, size_t size, size_t width) {
  for (size_t i = 0; i < size; i += width) std::reverse(data + i, data + i + width);
}

bool is_widened(const NpyHeader& header) { return header.kind == 'u' && header.item_size > 1; }

template <typename From, typename To>
void widen(std::string_view data, char* out, const std::string& name) {
  for (size_t i = 0; i < data.size() / sizeof(From); ++i) {
    From number;
    std::memcpy(&number, data.data() + i * sizeof(From), sizeof(From));
    if (!std::in_range<To>(number)) input_error("{}: data: expected integers below 2^63, found {}", name, number);
    const auto wide = static_cast<To>(number);
    std::memcpy(out + i * sizeof(To), &wide, sizeof(To));
  }
}

}  // namespace

NpyFile open_npy(std::span<const char> bytes, const std::string& name) {
  const auto [text, data] = split({bytes.data(), bytes.size()}, name);
  NpyFile file{parse_npy_header(text, name), data};
  check_size(file, name);
  return file;
}

NpyHeader parse_npy_beginning(std::span<const char> bytes, const std::string& name) {
  return parse_npy_header(split({bytes.data(), bytes.size()}, name).first, name);
}

int64_t size_in_memory(const NpyHeader& header) {
  return is_widened(header) ? std::min<int64_t>(2 * header.item_size, 8) : header.item_size;
}

void copy_elements(const NpyFile& file, char* out, const std::string& name) {
  const auto& [header, data] = file;
  if (data.empty()) return;
  std::string unsigned_data;
  if (is_widened(header)) unsigned_data = data;
  auto* native = is_widened(header) ? unsigned_data.data() : out;
  if (!is_widened(header)) std::memcpy(out, data.data(), data.size());
  if (header.byte_order == '>')
    swap_bytes(native, data.size(), header.kind == 'c' ? header.item_size / 2 : header.item_size);
  // A bool that is neither 0 nor 1 is undefined behaviour wherever it is read.
  if (header.kind == 'b') std::transform(out, out + data.size(), out, [](char byte) { return byte != 0; });
  if (!is_widened(header)) return;
  if (header.item_size == 2) widen<uint16_t, int32_t>(unsigned_data, out, name);
  if (header.item_size == 4) widen<uint32_t, int64_t>(unsigned_data, out, name);
  if (header.item_size == 8) widen<uint64_t, int64_t>(unsigned_data, out, name);
}

std::string format_npy_preamble(const std::string& descr, std::span<const int64_t> shape) {
  auto header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", descr,
                            fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  // The data begins at a multiple of 64 bytes, as NumPy writes it; ten bytes come before the header.
  constexpr size_t alignment = 64, preamble = 10;
  header.append(alignment - 1 - (preamble + header.size()) % alignment, ' ');
  header += '\n';
  std::string bytes(npy_magic);
  bytes += {1, 0, static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  return bytes + header;
}

}  // namespace penumbra::io
