#include "io/stored_tensor.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "core/error.h"

namespace penumbra::io {
namespace {

static_assert(std::endian::native == std::endian::little, "tensors are copied in the machine's byte order");

struct Row {
  ElementType type;
  int64_t size;
  std::string_view name;
};

/// In the order of the enumeration.
constexpr std::array<Row, 10> rows{{{ElementType::f64, 8, "F64"},
                                    {ElementType::f32, 4, "F32"},
                                    {ElementType::f16, 2, "F16"},
                                    {ElementType::bf16, 2, "BF16"},
                                    {ElementType::i64, 8, "I64"},
                                    {ElementType::i32, 4, "I32"},
                                    {ElementType::i16, 2, "I16"},
                                    {ElementType::i8, 1, "I8"},
                                    {ElementType::u8, 1, "U8"},
                                    {ElementType::boolean, 1, "BOOL"}}};

constexpr size_t most_stored_dimensions = 64;

const Row& row_of(ElementType type) { return rows[static_cast<size_t>(type)]; }

/// Empty tensors too; the stride of a dimension of one element does not matter.
bool is_contiguous(const StoredTensor& tensor) {
  const auto expected = contiguous_strides(tensor.shape);
  for (size_t i = 0; i < expected.size(); ++i)
    if (tensor.shape[i] != 1 && tensor.strides[i] != expected[i]) return false;
  return true;
}

/// Walks over all dimensions like an odometer; the last one turns fastest.
void gather(const StoredTensor& tensor, char* out) {
  const auto& [type, shape, strides, data] = tensor;
  const auto size = static_cast<size_t>(size_of(type));
  std::vector<int64_t> index(shape.size(), 0);
  int64_t from = 0;
  while (true) {
    std::memcpy(out, data.data() + from * static_cast<int64_t>(size), size);
    out += size;
    size_t d = shape.size();
    for (; d-- > 0;) {
      from += strides[d];
      if (++index[d] < shape[d]) break;
      from -= strides[d] * std::exchange(index[d], 0);
    }
    if (d == static_cast<size_t>(-1)) return;
  }
}

}  // namespace

int64_t size_of(ElementType type) { return row_of(type).size; }

std::string_view name_of(ElementType type) { return row_of(type).name; }

std::optional<ElementType> element_type(std::string_view name) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.name == name; });
  return found == rows.end() ? std::nullopt : std::optional(found->type);
}

std::string element_type_names() {
  std::vector<std::string_view> names;
  for (const auto& row : rows) names.push_back(row.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

int64_t byte_count(ElementType type, const std::vector<int64_t>& shape, const std::string& where) {
  if (shape.size() > most_stored_dimensions)
    input_error("{}: shape: expected at most {} dimensions, found {}", where, most_stored_dimensions, shape.size());
  int64_t bytes = size_of(type), extent = bytes;
  for (const auto d : shape) {
    if (d < 0) input_error("{}: shape: expected no negative extents, found {}", where, d);
    if (__builtin_mul_overflow(extent, std::max<int64_t>(d, 1), &extent))
      input_error("{}: shape: ({}) is too large", where, fmt::join(shape, ", "));
    bytes *= d;
  }
  return bytes;
}

std::vector<int64_t> contiguous_strides(const std::vector<int64_t>& shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * std::max<int64_t>(shape[i], 1);
  return strides;
}

void copy_elements(const StoredTensor& tensor, char* out) {
  const auto bytes = byte_count(tensor.type, tensor.shape, "tensor");
  if (bytes == 0) return;
  if (is_contiguous(tensor))
    std::memcpy(out, tensor.data.data(), static_cast<size_t>(bytes));
  else
    gather(tensor, out);
  // A bool that is neither 0 nor 1 is undefined behaviour wherever it is read.
  if (tensor.type == ElementType::boolean) std::transform(out, out + bytes, out, [](char byte) { return byte != 0; });
}

}  // namespace penumbra::io
