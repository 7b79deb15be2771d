// Any bytes are an image or an InputError; an image that was read is written as PNG and read back.
#include <zlib.h>

#include <cstdlib>
#include <string>
#include <utility>

#include "core/error.h"
#include "io/png.h"

namespace {

uint32_t big_endian(const std::string& bytes, size_t at) {
  uint32_t number = 0;
  for (size_t i = 0; i < 4; ++i) number = number << 8 | static_cast<unsigned char>(bytes[at + i]);
  return number;
}

/// Makes every chunk's checksum right: a mutation would otherwise never get past it.
void repair(std::string& png) {
  constexpr size_t signature = 8, head = 8, tail = 4;
  for (size_t at = signature; at + head + tail <= png.size();) {
    const size_t length = big_endian(png, at);
    if (length > png.size() - at - head - tail) return;
    const auto* type = reinterpret_cast<const Bytef*>(png.data() + at + 4);
    const auto crc = static_cast<uint32_t>(crc32(0, type, static_cast<uInt>(length + 4)));
    for (size_t i = 0; i < 4; ++i) png[at + head + length + i] = static_cast<char>(crc >> (24 - 8 * i));
    at += head + length + tail;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace penumbra;
  std::string bytes(reinterpret_cast<const char*>(data), size);
  // Odd sizes are read as they are, so that wrong checksums are seen too.
  if (size % 2 == 0) repair(bytes);
  try {
    auto pixels = io::decode_png(bytes, "fuzz.png");
    const auto samples = pixels.height * pixels.width * pixels.channels * pixels.bytes_per_sample;
    if (pixels.channels != 1 && pixels.channels != 3) std::abort();
    if (samples <= 0 || pixels.data.size() != static_cast<size_t>(samples)) std::abort();
    pixels.width *= std::exchange(pixels.bytes_per_sample, 1);  // two bytes a sample are written as two samples
    if (pixels.width > 32768) return 0;
    if (io::decode_png(io::encode_png(pixels), "written.png").data != pixels.data) std::abort();
  } catch (const InputError&) {
  }
  return 0;
}
