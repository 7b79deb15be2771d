/// The rows of an ISMRMRD table: which readouts there are, and the samples of one. Read with HDF5 itself, since the
/// ISMRMRD library does not say how many samples a row really holds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/tensor.h"
#include "io/hdf5_file.h"

namespace penumbra::io {

/// One line of k-space as its header describes it.
struct Readout {
  int64_t index = 0;            ///< its row in the table
  uint64_t flags = 0;           ///< bit b - 1 is ISMRMRD's flag b
  int64_t count = 0;            ///< samples in the file
  int64_t channels = 0;         ///< coils
  int64_t first = 0, past = 0;  ///< the samples that are to be kept
  int64_t centre = 0;           ///< the sample at zero frequency, counted in the order of rising frequency
  int64_t line = 0, plane = 0;  ///< kspace_encode_step_1 and 2
  int64_t slice = 0;            ///< from 0
  bool is_of_first_set = true;  ///< first contrast, phase, repetition, set and encoding

  bool is_noise() const;
  bool is_reversed() const;
  /// Whether it belongs to the image: no noise, navigator, correction or feedback.
  bool is_image(bool takes_calibration) const;
  /// How far the first kept sample is from the zero frequency, in a matrix of so many rows. Some programs leave
  /// center_sample 0 in full readouts: the middle is meant.
  int64_t offset(int64_t rows) const;
};

class ReadoutTable {
 public:
  /// Throws InputError where the dataset is not a table of readouts.
  ReadoutTable(const Hdf5File& file, const std::string& path);

  std::vector<Readout> readouts() const;

  /// complex64 [channels, kept samples], in the order of rising frequency. The length in the file is checked.
  Tensor samples(const Readout& readout) const;

  /// "file: dataset: readout 7", for messages.
  std::string where(const Readout& readout) const;

 private:
  Hdf5Dataset rows_;
  size_t data_offset_ = 0;  ///< of the samples' reference in a row
};

}  // namespace penumbra::io
