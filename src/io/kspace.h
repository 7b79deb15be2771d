/// k-space as scanners' files hold it, one slice at a time.
#pragma once

#include <filesystem>
#include <string>

#include "core/tensor.h"

namespace penumbra::io {

/// What a scanner's file holds of one slice.
struct Kspace {
  Tensor samples;  ///< complex64 [coils, H, W], zero frequency at (H/2, W/2), zeros where not acquired
  Tensor mask;     ///< bool [H, W]: acquired (the file's mask, else where any coil is not zero)
  Tensor noise;    ///< complex64 [coils, N] of a noise scan; undefined where the file has none
  int64_t slices = 1;
  std::string format;  ///< "npy", "bart", "fastmri", "ismrmrd"
};

/// NPY [H, W], [C, H, W] or [S, C, H, W], or BART .cfl/.hdr. Throws InputError naming the file.
Kspace read_kspace(const std::filesystem::path& path, int64_t slice = 0);

/// Any complex array, NPY or BART: C order, singleton dimensions dropped.
Tensor read_complex(const std::filesystem::path& path);

}  // namespace penumbra::io
