// Any bytes are an array or an InputError; an array that was read is written and read back to the same elements.
#include <cstdlib>
#include <string>

#include "core/error.h"
#include "io/npy_data.h"

namespace {

using namespace penumbra::io;

/// Exactly as large as the elements, so that the sanitizer sees a copy that writes past them.
std::string elements_of(const NpyFile& file) {
  const auto count = static_cast<int64_t>(file.data.size()) / file.header.item_size;
  std::string elements(count * size_in_memory(file.header), '\0');
  copy_elements(file, elements.data(), "fuzz.npy");
  return elements;
}

std::string type_in_memory(const NpyHeader& header) {
  const auto size = size_in_memory(header);
  const auto kind = size == header.item_size && size < 8 ? header.kind : header.kind == 'u' ? 'i' : header.kind;
  return "<" + std::string(1, kind) + std::to_string(size);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const auto file = open_npy({reinterpret_cast<const char*>(data), size}, "fuzz.npy");
    const auto elements = elements_of(file);
    const auto written = format_npy_preamble(type_in_memory(file.header), file.header.shape) + elements;
    try {
      const auto back = open_npy(written, "written.npy");
      if (back.header.shape != file.header.shape || elements_of(back) != elements) std::abort();
    } catch (const penumbra::InputError&) {
      std::abort();
    }
  } catch (const penumbra::InputError&) {
  }
  return 0;
}
