/// Whether a FITS file's parts are as long as their headers say, asked before CFITSIO sees the file: it takes some
/// sizes on trust, and reads zeros past the end of others.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace penumbra::io {

inline constexpr std::string_view fits_magic = "SIMPLE  =";
inline constexpr size_t fits_block = 2880;

/// Throws InputError, with `name` for the file, unless every part has the keywords that the standard begins a header
/// with, in its order, and its data lie within the file. Compressed images are refused.
void check_fits_layout(std::span<const char> bytes, const std::string& name);

}  // namespace penumbra::io
