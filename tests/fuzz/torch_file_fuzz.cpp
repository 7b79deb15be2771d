// Any bytes are tensors within the file or an InputError. What does not begin as a file of torch.save is taken as its
// pickle, in an archive with two small storages: a mutation of a whole archive would seldom get past its directory.
#include <cstdlib>
#include <string>

#include "core/error.h"
#include "io/torch_file.h"
#include "support/zip_archive.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace penumbra;
  std::string bytes(reinterpret_cast<const char*>(data), size);
  if (!io::looks_like_torch_file(bytes))
    bytes = test::zip_archive({{"a/data.pkl", bytes}, {"a/data/0", std::string(48, 'x')}, {"a/data/1", "1234"}});
  try {
    for (const auto& [key, tensor] : io::open_torch_file(bytes, "fuzz.pth").tensors) {
      std::string elements(io::byte_count(tensor.type, tensor.shape, key), '\0');
      io::copy_elements(tensor, elements.data());
      if (tensor.strides.size() != tensor.shape.size()) std::abort();
    }
  } catch (const InputError&) {
  }
  return 0;
}
