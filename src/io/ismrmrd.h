/// ISMRMRD's layout of HDF5 (https://ismrmrd.github.io): a group with `xml`, the header, and `data`, one row a readout.
/// Only for files that are compiled with the HDF5 library; without the ISMRMRD library every function but find_ismrmrd
/// says that it is missing.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "io/hdf5_file.h"
#include "io/kspace.h"

namespace penumbra::io {

/// The group that holds a measurement: `dataset`, else the first that has both parts.
std::optional<std::string> find_ismrmrd(const Hdf5File& file);

/// One slice of a 2-D Cartesian scan: rows are the readout, with its oversampling, columns the phase encoding.
Kspace read_ismrmrd(const Hdf5File& file, const std::string& group, int64_t slice);

/// What the XML header says about the scanner, the sequence and the matrix, as (name, text).
std::vector<std::pair<std::string, std::string>> ismrmrd_notes(const std::string& xml, const std::string& where);

}  // namespace penumbra::io
