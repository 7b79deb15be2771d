// Any bytes are a collection of HDF5's global heap, whose objects lie within it, or an InputError. The first two bytes
// are the index that is asked for; the next 16 are taken for a reference.
#include <cstdlib>
#include <string_view>

#include "core/error.h"
#include "io/hdf5_heap.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace penumbra;
  if (size < 2) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  try {
    if (io::parse_heap_reference(bytes, "fuzz.h5").index > UINT32_MAX) std::abort();
    io::parse_heap_head(bytes, "fuzz.h5");
    const auto object = io::find_heap_object(bytes, data[0] + 256U * data[1], "fuzz.h5");
    if (object.data() < bytes.data() || object.data() + object.size() > bytes.data() + bytes.size()) std::abort();
  } catch (const InputError&) {
  }
  return 0;
}
