/// Small files as scanners write them, made with the libraries' own functions.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/tensor.h"

namespace penumbra::test {

/// Whether the libraries are there to write with.
bool writes_hdf5();
bool writes_ismrmrd();

/// Complex numbers that tell their place: no two alike, none zero.
Tensor numbered_kspace(const std::vector<int64_t>& shape);

/// `kspace` of any shape, complex64 or complex128, as {r, i}; in chunks of one slice, deflated, where asked.
struct FastMri {
  Tensor kspace;
  Tensor mask{};  ///< written where defined: bool as h5py's enumeration, else as float32
  bool deflated = false;
  std::string name = "kspace";
};
void write_fastmri(const std::filesystem::path& path, const FastMri& content);

/// One readout for an ISMRMRD file.
struct Line {
  Tensor samples;  ///< complex64 [coils, samples]
  int step = 0;    ///< kspace_encode_step_1
  int slice = 0, average = 0, repetition = 0, partition = 0;
  int centre = 0, discard_pre = 0, discard_post = 0;
  std::vector<int> flags{};  ///< ISMRMRD's numbers
};

/// The XML header of a scan with this matrix, whose line `centre` has zero frequency.
std::string ismrmrd_xml(int rows, int columns, int centre, const std::string& trajectory = "cartesian", int depth = 1,
                        const std::string& parallel = "");

void write_ismrmrd(const std::filesystem::path& path, const std::string& xml, const std::vector<Line>& lines,
                   const std::string& group = "dataset");

}  // namespace penumbra::test
