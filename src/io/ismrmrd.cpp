#ifdef PENUMBRA_HDF5
#include "io/ismrmrd.h"

#include <fmt/format.h>

#include "core/error.h"
#include "core/nearest.h"

#ifdef PENUMBRA_ISMRMRD
#include <ATen/ATen.h>
#include <ismrmrd/xml.h>

#include <algorithm>

#include "io/hdf5_kspace.h"
#include "io/ismrmrd_readout.h"
#endif

namespace penumbra::io {

std::optional<std::string> find_ismrmrd(const Hdf5File& file) {
  auto groups = file.contents();
  groups.insert(groups.begin(), "dataset");
  for (const auto& group : groups)
    if (file.has_dataset(group + "/xml") && file.has_dataset(group + "/data")) return group;
  return std::nullopt;
}

#ifdef PENUMBRA_ISMRMRD
namespace {

// Undersampling leaves a grid larger than the file; beyond this the file's matrix size is not believed.
constexpr uint64_t most_undersampling = 1024;

ISMRMRD::IsmrmrdHeader parse_header(const std::string& xml, const std::string& where) {
  ISMRMRD::IsmrmrdHeader header;
  try {
    ISMRMRD::deserialize(xml.c_str(), header);
  } catch (const std::exception& error) {
    input_error("{}: expected an ISMRMRD header: {}", where, excerpt(error.what()));
  }
  return header;
}

std::string name_of(ISMRMRD::TrajectoryType type) {
  switch (type) {
    case ISMRMRD::TrajectoryType::CARTESIAN:
      return "cartesian";
    case ISMRMRD::TrajectoryType::EPI:
      return "epi";
    case ISMRMRD::TrajectoryType::RADIAL:
      return "radial";
    case ISMRMRD::TrajectoryType::GOLDENANGLE:
      return "goldenangle";
    case ISMRMRD::TrajectoryType::SPIRAL:
      return "spiral";
    default:
      return "other";
  }
}

/// Where the readouts of a scan go on the grid.
struct Grid {
  int64_t rows = 0, columns = 0;  ///< the encoded matrix: readout and phase encoding
  int64_t centre_line = 0;        ///< the kspace_encode_step_1 of the zero frequency
  bool takes_calibration = true;  ///< lines that serve as calibration alone belong to the same scan
};

Grid grid_of(const ISMRMRD::IsmrmrdHeader& header, const std::string& where) {
  if (header.encoding.empty()) input_error("{}: expected an encoding, found none", where);
  const auto& encoding = header.encoding[0];
  const auto& size = encoding.encodedSpace.matrixSize;
  if (encoding.trajectory != ISMRMRD::TrajectoryType::CARTESIAN)
    input_error(
        "{}: trajectory: expected cartesian, found {}: its samples are not on a grid (or, of EPI, need a "
        "correction first); grid it with another program",
        where, name_of(encoding.trajectory));
  if (size.z > 1)
    input_error("{}: matrixSize: expected a 2-D encoding, with z = 1, found {}x{}x{}", where, size.x, size.y, size.z);
  if (size.x == 0 || size.y == 0)
    input_error("{}: matrixSize: expected an encoded matrix, found {}x{}", where, size.x, size.y);
  Grid grid{size.x, size.y, size.y / 2, true};
  if (encoding.encodingLimits.kspace_encoding_step_1)
    grid.centre_line = encoding.encodingLimits.kspace_encoding_step_1->center;
  if (encoding.parallelImaging && encoding.parallelImaging->calibrationMode) {
    const auto& mode = *encoding.parallelImaging->calibrationMode;
    grid.takes_calibration = mode != "separate" && mode != "external";
  }
  return grid;
}

/// The sum of the averages at each place, and how many there were.
class Collected {
 public:
  Collected(const Grid& grid, int64_t coils)
      : grid_(grid),
        sum_(at::zeros({coils, grid.rows, grid.columns}, at::kComplexFloat)),
        count_(at::zeros({grid.rows, grid.columns}, at::kFloat)) {}

  int64_t coils() const { return sum_.size(0); }

  void add(const Readout& readout, const Tensor& line, const std::string& where) {
    if (readout.channels != coils())
      input_error("{}: active_channels: expected {}, as the readouts before it, found {}", where, coils(),
                  readout.channels);
    const auto column = readout.line - grid_.centre_line + grid_.columns / 2;
    const auto row = grid_.rows / 2 + readout.offset(grid_.rows);
    if (column < 0 || column >= grid_.columns)
      input_error("{}: kspace_encode_step_1: expected a line of the encoded matrix, {} to {}, found {}", where,
                  grid_.centre_line - grid_.columns / 2, grid_.centre_line - grid_.columns / 2 + grid_.columns - 1,
                  readout.line);
    if (row < 0 || row + line.size(1) > grid_.rows)
      input_error("{}: expected a readout within the encoded matrix of {} samples, found {} with its centre at {}",
                  where, grid_.rows, line.size(1), readout.centre);
    sum_.select(2, column).narrow(1, row, line.size(1)).add_(line);
    count_.select(1, column).narrow(0, row, line.size(1)).add_(1);
  }

  Kspace kspace() const {
    Kspace kspace;
    kspace.mask = count_.gt(0);
    kspace.samples = sum_ / count_.clamp_min(1);
    if (count_.gt(1).any().item<bool>()) kspace.averages = count_;
    return kspace;
  }

 private:
  Grid grid_;
  Tensor sum_, count_;
};

Tensor read_noise(const ReadoutTable& table, const std::vector<Readout>& readouts, int64_t coils) {
  std::vector<Tensor> parts;
  for (const auto& readout : readouts) {
    if (!readout.is_noise()) continue;
    if (readout.channels != coils)
      input_error("{}: the noise scan has {} channels; expected {} as the images have", table.where(readout),
                  readout.channels, coils);
    parts.push_back(table.samples(readout));
  }
  return parts.empty() ? Tensor() : at::cat(parts, 1);
}

void require_room(const Grid& grid, const Readout& first, const Hdf5File& file) {
  const auto bytes = static_cast<uint64_t>(grid.rows) * static_cast<uint64_t>(grid.columns) * first.channels * 8;
  if (bytes / most_undersampling > file.bytes())
    input_error("{}: matrixSize: {}x{} samples of {} coils are too many for a file of {} bytes", file.name(), grid.rows,
                grid.columns, first.channels, file.bytes());
}

void add_note(std::vector<std::pair<std::string, std::string>>& notes, const char* name, const std::string& text) {
  if (!text.empty()) notes.emplace_back(name, text);
}

std::string numbers(const ISMRMRD::Optional<std::vector<float>>& values) {
  std::string text;
  if (!values) return text;
  for (const auto value : *values) text += fmt::format("{}{:g}", text.empty() ? "" : ", ", value);
  return text;
}

std::string space_text(const ISMRMRD::EncodingSpace& space) {
  const auto& [size, view] = std::tie(space.matrixSize, space.fieldOfView_mm);
  return fmt::format("{}x{}x{}, {:g}x{:g}x{:g} mm", size.x, size.y, size.z, view.x, view.y, view.z);
}

}  // namespace

bool reads_ismrmrd() { return true; }

Kspace read_ismrmrd(const Hdf5File& file, const std::string& group, int64_t slice) {
  const auto grid = grid_of(parse_header(file.text(group + "/xml"), file.name() + ": " + group + "/xml"),
                            file.name() + ": " + group + "/xml");
  const ReadoutTable table(file, group + "/data");
  const auto readouts = table.readouts();
  std::vector<Readout> lines;
  int64_t slices = 0;
  for (const auto& readout : readouts) {
    if (!readout.is_image(grid.takes_calibration)) continue;
    slices = std::max<int64_t>(slices, readout.slice + 1);
    if (readout.slice == slice) lines.push_back(readout);
  }
  if (slices == 0) input_error("{}: {}/data: expected readouts of an image, found none", file.name(), group);
  if (slice < 0 || slice >= slices)
    input_error("{}: slice: expected 0 to {}, found {}", file.name(), slices - 1, slice);
  if (lines.empty()) input_error("{}: slice: no readout belongs to slice {}", file.name(), slice);
  require_room(grid, lines[0], file);
  Collected collected(grid, lines[0].channels);
  for (const auto& line : lines) {
    if (line.plane > 0)
      input_error("{}: kspace_encode_step_2: expected 0, as of a 2-D scan, found {}", table.where(line), line.plane);
    collected.add(line, table.samples(line), table.where(line));
  }
  auto kspace = collected.kspace();
  kspace.noise = read_noise(table, readouts, collected.coils());
  kspace.slices = slices;
  kspace.format = "ismrmrd";
  return kspace;
}

std::vector<std::pair<std::string, std::string>> ismrmrd_notes(const std::string& xml, const std::string& where) {
  const auto header = parse_header(xml, where);
  std::vector<std::pair<std::string, std::string>> notes;
  if (header.acquisitionSystemInformation) {
    const auto& system = *header.acquisitionSystemInformation;
    add_note(notes, "scanner",
             system.systemVendor.value_or("") + std::string(system.systemModel ? " " : "") +
                 system.systemModel.value_or(""));
    if (system.systemFieldStrength_T) add_note(notes, "field_T", fmt::format("{:g}", *system.systemFieldStrength_T));
  }
  if (header.measurementInformation)
    add_note(notes, "protocol", header.measurementInformation->protocolName.value_or(""));
  if (header.sequenceParameters) {
    add_note(notes, "TR_ms", numbers(header.sequenceParameters->TR));
    add_note(notes, "TE_ms", numbers(header.sequenceParameters->TE));
    add_note(notes, "TI_ms", numbers(header.sequenceParameters->TI));
    add_note(notes, "flip_angle_degrees", numbers(header.sequenceParameters->flipAngle_deg));
  }
  if (header.encoding.empty()) return notes;
  const auto& encoding = header.encoding[0];
  add_note(notes, "trajectory", name_of(encoding.trajectory));
  add_note(notes, "encoded_matrix", space_text(encoding.encodedSpace));
  add_note(notes, "reconstructed_matrix", space_text(encoding.reconSpace));
  return notes;
}

#else

bool reads_ismrmrd() { return false; }

Kspace read_ismrmrd(const Hdf5File& file, const std::string&, int64_t) {
  input_error(
      "{}: an ISMRMRD file, but this program was built without the ISMRMRD library; convert it to NPY or BART's cfl, "
      "or build again with it installed (Debian: libismrmrd-dev)",
      file.name());
}

std::vector<std::pair<std::string, std::string>> ismrmrd_notes(const std::string&, const std::string&) { return {}; }

#endif

}  // namespace penumbra::io
#endif
