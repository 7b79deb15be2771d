#include "support/scans.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cstring>

#ifdef PENUMBRA_HDF5
#include <hdf5.h>
#endif
#ifdef PENUMBRA_ISMRMRD
#include <ismrmrd/dataset.h>
#include <ismrmrd/ismrmrd.h>
#endif

namespace penumbra::test {

Tensor numbered_kspace(const std::vector<int64_t>& shape) {
  const auto count = element_count(shape);
  const auto numbers = at::arange(1, count + 1, at::kFloat).reshape(shape);
  return at::complex(numbers, -numbers / 2);
}

#ifdef PENUMBRA_HDF5
namespace {

hid_t complex_type(bool is_double) {
  const auto number = is_double ? H5T_NATIVE_DOUBLE : H5T_NATIVE_FLOAT;
  const auto size = is_double ? sizeof(double) : sizeof(float);
  const auto type = H5Tcreate(H5T_COMPOUND, 2 * size);
  H5Tinsert(type, "r", 0, number);
  H5Tinsert(type, "i", size, number);
  return type;
}

hid_t bool_type() {
  const auto type = H5Tenum_create(H5T_NATIVE_INT8);
  for (const signed char value : {0, 1}) H5Tenum_insert(type, value ? "TRUE" : "FALSE", &value);
  return type;
}

void write_dataset(hid_t file, const std::string& name, const Tensor& array, hid_t type, bool deflated) {
  const auto stored = array.contiguous();
  const std::vector<hsize_t> shape(stored.sizes().begin(), stored.sizes().end());
  const auto space = H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
  const auto creation = H5Pcreate(H5P_DATASET_CREATE);
  if (deflated) {
    auto chunk = shape;
    chunk[0] = 1;
    H5Pset_chunk(creation, static_cast<int>(chunk.size()), chunk.data());
    H5Pset_deflate(creation, 6);
  }
  const auto set = H5Dcreate2(file, name.c_str(), type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, stored.data_ptr());
  H5Dclose(set);
  H5Pclose(creation);
  H5Sclose(space);
}

void write_attributes(hid_t file) {
  const auto space = H5Screate(H5S_SCALAR);
  const auto text = H5Tcopy(H5T_C_S1);
  H5Tset_size(text, H5T_VARIABLE);
  const char* acquisition = "AXT2";
  const auto first = H5Acreate2(file, "acquisition", text, space, H5P_DEFAULT, H5P_DEFAULT);
  H5Awrite(first, text, &acquisition);
  const double largest = 0.25;
  const auto second = H5Acreate2(file, "max", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT);
  H5Awrite(second, H5T_NATIVE_DOUBLE, &largest);
  H5Aclose(first);
  H5Aclose(second);
  H5Tclose(text);
  H5Sclose(space);
}

}  // namespace

bool writes_hdf5() { return true; }

void write_fastmri(const std::filesystem::path& path, const FastMri& content) {
  const auto file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const bool is_complex = content.kspace.is_complex();
  const auto type =
      is_complex ? complex_type(content.kspace.scalar_type() == at::kComplexDouble) : H5Tcopy(H5T_NATIVE_FLOAT);
  write_dataset(file, content.name, content.kspace, type, content.deflated);
  H5Tclose(type);
  if (content.mask.defined()) {
    const bool is_bool = content.mask.scalar_type() == at::kBool;
    const auto mask_type = is_bool ? bool_type() : H5Tcopy(H5T_NATIVE_FLOAT);
    write_dataset(file, "mask", is_bool ? content.mask : content.mask.to(at::kFloat), mask_type, false);
    H5Tclose(mask_type);
  }
  write_attributes(file);
  H5Fclose(file);
}
#else
bool writes_hdf5() { return false; }
void write_fastmri(const std::filesystem::path&, const FastMri&) {}
#endif

std::string ismrmrd_xml(int rows, int columns, int centre, const std::string& trajectory, int depth,
                        const std::string& parallel) {
  const auto space = [&](const char* name, int x) {
    return fmt::format(
        "<{0}><matrixSize><x>{1}</x><y>{2}</y><z>{3}</z></matrixSize>"
        "<fieldOfView_mm><x>400</x><y>200</y><z>5</z></fieldOfView_mm></{0}>",
        name, x, columns, depth);
  };
  return fmt::format(
      "<?xml version=\"1.0\"?><ismrmrdHeader xmlns=\"http://www.ismrm.org/ISMRMRD\">"
      "<acquisitionSystemInformation><systemVendor>Acme</systemVendor>"
      "<systemFieldStrength_T>1.5</systemFieldStrength_T></acquisitionSystemInformation>"
      "<experimentalConditions><H1resonanceFrequency_Hz>63500000</H1resonanceFrequency_Hz></experimentalConditions>"
      "<encoding>{}{}<encodingLimits><kspace_encoding_step_1><minimum>0</minimum><maximum>{}</maximum>"
      "<center>{}</center></kspace_encoding_step_1></encodingLimits><trajectory>{}</trajectory>{}</encoding>"
      "<sequenceParameters><TR>500</TR><TE>10</TE><TE>20</TE></sequenceParameters></ismrmrdHeader>",
      space("encodedSpace", rows), space("reconSpace", rows / 2), columns - 1, centre, trajectory, parallel);
}

#ifdef PENUMBRA_ISMRMRD
bool writes_ismrmrd() { return true; }

void write_ismrmrd(const std::filesystem::path& path, const std::string& xml, const std::vector<Line>& lines,
                   const std::string& group) {
  ISMRMRD::Dataset file(path.c_str(), group.c_str(), true);
  file.writeHeader(xml);
  for (const auto& line : lines) {
    const auto samples = line.samples.contiguous();
    ISMRMRD::Acquisition readout(static_cast<uint16_t>(samples.size(1)), static_cast<uint16_t>(samples.size(0)));
    std::memcpy(readout.getDataPtr(), samples.data_ptr(), samples.nbytes());
    readout.idx().kspace_encode_step_1 = static_cast<uint16_t>(line.step);
    readout.idx().kspace_encode_step_2 = static_cast<uint16_t>(line.partition);
    readout.idx().slice = static_cast<uint16_t>(line.slice);
    readout.idx().average = static_cast<uint16_t>(line.average);
    readout.idx().repetition = static_cast<uint16_t>(line.repetition);
    readout.center_sample() = static_cast<uint16_t>(line.centre);
    readout.discard_pre() = static_cast<uint16_t>(line.discard_pre);
    readout.discard_post() = static_cast<uint16_t>(line.discard_post);
    for (const auto flag : line.flags) readout.setFlag(static_cast<uint64_t>(flag));
    file.appendAcquisition(readout);
  }
}
#else
bool writes_ismrmrd() { return false; }
void write_ismrmrd(const std::filesystem::path&, const std::string&, const std::vector<Line>&, const std::string&) {}
#endif

}  // namespace penumbra::test
