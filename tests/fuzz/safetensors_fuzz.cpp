// Any bytes are tensors or an InputError; tensors that were read are written and read back to the same.
#include <cstdlib>
#include <string>

#include "core/error.h"
#include "io/safetensors.h"

namespace {

using namespace penumbra::io;

/// Exactly as large as the elements, so that the sanitizer sees a copy that writes past them.
std::string elements_of(const StoredTensor& tensor) {
  std::string elements(byte_count(tensor.type, tensor.shape, "fuzz"), '\0');
  copy_elements(tensor, elements.data());
  return elements;
}

bool equal(const Safetensors& a, const Safetensors& b) {
  if (a.metadata != b.metadata || a.tensors.size() != b.tensors.size()) return false;
  for (const auto& [key, tensor] : a.tensors) {
    const auto other = b.tensors.find(key);
    if (other == b.tensors.end() || other->second.shape != tensor.shape || other->second.type != tensor.type ||
        elements_of(other->second) != elements_of(tensor))
      return false;
  }
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const auto file = open_safetensors({reinterpret_cast<const char*>(data), size}, "fuzz.safetensors");
    try {
      const auto written = format_safetensors(file);
      if (!equal(open_safetensors(written, "written.safetensors"), file)) std::abort();
    } catch (const penumbra::InputError&) {
      std::abort();
    }
  } catch (const penumbra::InputError&) {
  }
  return 0;
}
