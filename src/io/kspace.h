/// k-space as scanners and their programs keep it (docs/formats.md): NPY, BART, fastMRI's HDF5, ISMRMRD.
#pragma once

#include <filesystem>
#include <string>

#include "core/settings.h"
#include "core/tensor.h"

namespace penumbra::io {

/// What a scanner's file holds of one slice.
struct Kspace {
  Tensor samples;      ///< complex64 [coils, H, W], zero frequency at (H/2, W/2), zeros where not acquired
  Tensor mask;         ///< bool [H, W]: acquired (the file's mask, else where any coil is not zero)
  Tensor averages;     ///< float32 [H, W]: how many readouts a sample is the mean of; undefined: it is one readout
  Tensor noise;        ///< complex64 [coils, N] of a noise scan; undefined where the file has none
  int64_t slices = 1;  ///< in the whole file
  std::string format;  ///< "npy", "bart", "fastmri", "ismrmrd"
};

/// Throws InputError naming the file, and the first place where a number is not finite. HDF5 files are told by their
/// content, the others by their names.
Kspace read_kspace(const std::filesystem::path& path, int64_t slice = 0);

/// A file that a configuration names, for read_kspace or read_complex; of BART's pair the other file is noted too, for
/// both make the data.
std::filesystem::path kspace_file(Settings& settings, const std::string& key);

/// Coil maps, images or any other numbers as complex64, dimensions of one element dropped: NPY in its order; BART with
/// its higher dimensions first and then READ, PHS1, PHS2, so that coil maps are [coils, H, W] as the samples are.
Tensor read_complex(const std::filesystem::path& path);

}  // namespace penumbra::io
