/// HDF5's global heap, where elements of variable length are kept, read by hand: the library (1.10) trusts the lengths
/// in the file and writes past its buffers where they are wrong.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace penumbra::io {

/// What stands in an array for an element of variable length.
struct HeapReference {
  uint64_t count = 0;       ///< of items
  uint64_t collection = 0;  ///< its place in the file
  uint64_t index = 0;       ///< within the collection
};

inline constexpr size_t heap_reference_bytes = 16;
inline constexpr size_t heap_head_bytes = 16;

/// From its 16 bytes.
HeapReference parse_heap_reference(std::string_view bytes, const std::string& where);

/// The size of a collection, in bytes, from its first 16.
uint64_t parse_heap_head(std::string_view bytes, const std::string& where);

/// The object of this index in a whole collection. Throws InputError where there is none.
std::string_view find_heap_object(std::string_view collection, uint64_t index, const std::string& where);

}  // namespace penumbra::io
