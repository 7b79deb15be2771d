/// A tensor as it lies in a file's bytes; knows no LibTorch, so that what reads strangers' files can be fuzzed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace penumbra::io {

enum class ElementType { f64, f32, f16, bf16, i64, i32, i16, i8, u8, boolean };

/// Of tensors and storages, in bytes. A name may be used many times in few bytes, and each use copies it.
inline constexpr size_t longest_name = 1024;

int64_t size_of(ElementType type);

/// The words of safetensors: F64, F32, F16, BF16, I64, I32, I16, I8, U8, BOOL.
std::string_view name_of(ElementType type);
std::optional<ElementType> element_type(std::string_view name);

/// "F64, F32, ...", for messages.
std::string element_type_names();

struct StoredTensor {
  ElementType type = ElementType::f32;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;  ///< in elements, none negative
  std::string_view data;         ///< little endian, from the first element to the last one that the strides reach
};

using StoredTensors = std::map<std::string, StoredTensor>;

/// The bytes of so many elements; InputError "where: shape: ..." where they overflow 63 bits, counting empty dimensions
/// as one since strides are computed all the same, or where there are more than 64 dimensions, LibTorch's own limit.
int64_t byte_count(ElementType type, const std::vector<int64_t>& shape, const std::string& where);

/// Row after row.
std::vector<int64_t> contiguous_strides(const std::vector<int64_t>& shape);

/// Copies the elements row after row to `out`, which has byte_count bytes of room. A bool becomes 0 or 1.
void copy_elements(const StoredTensor& tensor, char* out);

}  // namespace penumbra::io
