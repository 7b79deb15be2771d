/// Images as NIfTI-1 files (.nii): one file, float32, the header by hand (nifti1.h of the NIfTI-1 standard).
#pragma once

#include <filesystem>
#include <string>

#include "core/tensor.h"

namespace penumbra::io {

/// Writes atomically one slice [channels, H, W], or many images of it [N, channels, H, W]: column is x, row is y, the
/// image is the fourth dimension and the channel the fifth. Pixels are square. Rows run from anterior to posterior and
/// columns from the patient's right to left, so that viewers show the image as a PNG does; the middle is the origin.
void write_nifti(const std::filesystem::path& path, const Tensor& images, double pixel_mm = 1);

/// The bytes that write_nifti writes.
std::string format_nifti(const Tensor& images, double pixel_mm = 1);

}  // namespace penumbra::io
