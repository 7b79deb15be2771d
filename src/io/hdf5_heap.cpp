#include "io/hdf5_heap.h"

#include "core/error.h"
#include "io/cursor.h"

namespace penumbra::io {

HeapReference parse_heap_reference(std::string_view bytes, const std::string& where) {
  Cursor cursor(bytes, where);
  HeapReference reference;
  reference.count = cursor.number(4);
  reference.collection = cursor.number(8);
  reference.index = cursor.number(4);
  return reference;
}

uint64_t parse_heap_head(std::string_view bytes, const std::string& where) {
  Cursor cursor(bytes, where);
  if (cursor.take(4) != "GCOL" || cursor.number(1) != 1)
    input_error("{}: expected a collection of HDF5's global heap, found something else (is the file damaged?)", where);
  cursor.take(3);
  return cursor.number(8);
}

std::string_view find_heap_object(std::string_view collection, uint64_t index, const std::string& where) {
  constexpr size_t object_head = 16;
  Cursor cursor(collection, where);
  cursor.take(heap_head_bytes);
  while (cursor.left() >= object_head) {
    const auto found = cursor.number(2);
    cursor.take(6);  // how often it is referred to, and nothing
    const auto size = cursor.number(8);
    if (found == 0) break;  // the free room at the end
    const auto object = cursor.take(size);
    if (found == index) return object;
    const auto padding = (8 - size % 8) % 8;
    if (padding > cursor.left()) break;
    cursor.take(padding);
  }
  input_error("{}: expected object {} in HDF5's global heap, found none (is the file damaged?)", where, index);
}

}  // namespace penumbra::io
