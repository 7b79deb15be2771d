/// JPEG pixels as libjpeg decodes them, before they become an image.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "io/png.h"

namespace penumbra::io {

inline constexpr std::string_view jpeg_magic = "\xff\xd8\xff";

/// Whether libjpeg was there when the program was built.
bool reads_jpeg();

/// Gray or colour, 8 bits a sample. Throws InputError, with `name` for the file, on anything but a complete JPEG of at
/// most 32768 pixels a side and 2^28 in all; CMYK is refused. An EXIF orientation is ignored: the pixels come as they
/// are stored.
Pixels decode_jpeg(std::span<const char> bytes, const std::string& name);

}  // namespace penumbra::io
