/// PNG pixels as libpng decodes them, before they become an image.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace penumbra::io {

struct Pixels {
  int64_t height = 0;
  int64_t width = 0;
  int64_t channels = 0;             ///< 1 (gray) or 3 (colour); alpha is dropped
  int64_t bytes_per_sample = 0;     ///< 1, or 2 with the high byte first
  std::vector<unsigned char> data;  ///< [height, width, channels]
};

/// Throws InputError, with `name` for the file, on anything but a complete PNG of at most 32768 pixels a side and
/// 2^28 in all.
Pixels decode_png(std::span<const char> bytes, const std::string& name);

/// 8 bits a sample. `data` is [height, width, channels].
std::string encode_png(const Pixels& pixels);

}  // namespace penumbra::io
