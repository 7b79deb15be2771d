#ifdef PENUMBRA_HDF5
#include "io/fastmri.h"

#include <ATen/ATen.h>

#include "core/error.h"

namespace penumbra::io {
namespace {

/// float32 {r, i}, into which the library converts any other precision.
Hdf5Handle complex_type() {
  Hdf5Handle type(H5Tcreate(H5T_COMPOUND, 2 * sizeof(float)), H5Tclose);
  H5Tinsert(type.get(), "r", 0, H5T_NATIVE_FLOAT);
  H5Tinsert(type.get(), "i", sizeof(float), H5T_NATIVE_FLOAT);
  return type;
}

bool is_number(hid_t compound, const char* member) {
  const int index = H5Tget_member_index(compound, member);
  return index >= 0 && H5Tget_member_class(compound, static_cast<unsigned>(index)) == H5T_FLOAT;
}

void require_complex(const Hdf5Dataset& data) {
  const auto type = data.type();
  if (H5Tget_class(type.get()) != H5T_COMPOUND || H5Tget_nmembers(type.get()) != 2 || !is_number(type.get(), "r") ||
      !is_number(type.get(), "i"))
    input_error("{}: expected complex numbers, a pair {{r, i}} of floats, found another type", data.where());
}

/// bool [H, W] from one number a column, or from one a sample.
Tensor read_mask(const Hdf5File& file, int64_t height, int64_t width) {
  const Hdf5Dataset data(file, "mask");
  const auto type = data.type();
  const auto kind = H5Tget_class(type.get());
  if (kind != H5T_INTEGER && kind != H5T_FLOAT && kind != H5T_ENUM)
    input_error("{}: expected numbers, found another type", data.where());
  const auto& shape = data.shape();
  if (shape != Shape{width} && shape != Shape{height, width})
    input_error("{}: expected {} numbers, one a column of kspace, found [{}]", data.where(), width, describe(shape));
  auto mask = at::empty(shape, at::kFloat);
  data.read(H5T_NATIVE_FLOAT, Shape(shape.size(), 0), shape, mask.data_ptr());
  return mask.ne(0).expand({height, width}).contiguous();
}

}  // namespace

Kspace read_fastmri(const Hdf5File& file, int64_t slice) {
  const Hdf5Dataset data(file, "kspace");
  require_complex(data);
  const auto& shape = data.shape();
  if ((shape.size() != 3 && shape.size() != 4) || element_count(shape) == 0)
    input_error("{}: expected (slices, H, W) or (slices, coils, H, W), found [{}]", data.where(), describe(shape));
  if (slice < 0 || slice >= shape[0])
    input_error("{}: slice: expected 0 to {}, found {}", data.where(), shape[0] - 1, slice);
  Kspace kspace;
  kspace.format = "fastmri";
  kspace.slices = shape[0];
  Shape start(shape.size(), 0), count = shape;
  start[0] = slice;
  count[0] = 1;
  auto samples = at::empty(count, at::kComplexFloat);
  data.read(complex_type().get(), start, count, samples.data_ptr());
  kspace.samples = shape.size() == 3 ? samples : samples.squeeze(0);
  if (file.has_dataset("mask")) kspace.mask = read_mask(file, shape[shape.size() - 2], shape.back());
  return kspace;
}

}  // namespace penumbra::io
#endif
