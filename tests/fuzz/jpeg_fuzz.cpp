// Any bytes are an image of the size that it says or an InputError.
#include <cstdlib>
#include <string>

#include "core/error.h"
#include "io/jpeg.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace penumbra;
  try {
    const auto pixels = io::decode_jpeg({reinterpret_cast<const char*>(data), size}, "fuzz.jpg");
    const auto samples = pixels.height * pixels.width * pixels.channels;
    if ((pixels.channels != 1 && pixels.channels != 3) || pixels.bytes_per_sample != 1) std::abort();
    if (samples <= 0 || pixels.data.size() != static_cast<size_t>(samples)) std::abort();
  } catch (const InputError&) {
  }
  return 0;
}
