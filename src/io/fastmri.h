/// fastMRI's layout of HDF5: `kspace` (slices, coils, H, W) or (slices, H, W) of complex numbers {r, i}, and in the
/// test files `mask`, one number a column. Only for files that are compiled with the HDF5 library.
#pragma once

#include "io/hdf5_file.h"
#include "io/kspace.h"

namespace penumbra::io {

/// Reads one slice, and no other.
Kspace read_fastmri(const Hdf5File& file, int64_t slice);

}  // namespace penumbra::io
