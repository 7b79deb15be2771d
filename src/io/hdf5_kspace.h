/// k-space in HDF5 files: fastMRI's and ISMRMRD's layouts, told apart by what is in the file.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "io/kspace.h"

namespace penumbra::io {

/// Whether the libraries were there when the program was built.
bool reads_hdf5();
bool reads_ismrmrd();

/// Whether the file begins as HDF5 does, maybe after a user's block of 512 bytes or a power of two times that.
bool looks_like_hdf5(const std::filesystem::path& path);

/// As read_kspace, before its checks: only the slice asked for is read, in a process of its own, since a damaged file
/// can crash the HDF5 library. Throws InputError too where a library that it takes is not there.
Kspace read_hdf5_kspace(const std::filesystem::path& path, int64_t slice);

/// What else the file says that is worth knowing, as (name, text): attributes, the sequence, the scanner.
std::vector<std::pair<std::string, std::string>> read_hdf5_notes(const std::filesystem::path& path);

}  // namespace penumbra::io
