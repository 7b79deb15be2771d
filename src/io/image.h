/// Images in and out: NPY and FITS as stored; PNG (8 or 16 bit) and JPEG, gray or colour, mapped to a stated range.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "core/tensor.h"

namespace penumbra::io {

/// An image as float64 [channels, height, width]. NPY files may be [H, W], [C, H, W] or [1, C, H, W] and keep their
/// values, and so do FITS and ehtim's text (io/sky_image.h); PNG and JPEG pixels are scaled from 0..maximum to [low,
/// high]. Alpha is dropped.
Tensor read_image(const std::filesystem::path& path, double low = -1, double high = 1);

/// The same from memory; `name` stands for the file in messages. The content decides the format, not the name.
Tensor parse_image(std::span<const char> bytes, const std::string& name, double low = -1, double high = 1);

/// An 8-bit PNG, gray for [H, W] or [1, H, W], colour for [3, H, W]; values are bytes already (uint8).
void write_png(const std::filesystem::path& path, const Tensor& bytes);

/// The bytes that write_png writes.
std::string format_png(const Tensor& bytes);

}  // namespace penumbra::io
