#include "io/nifti.h"

#include <ATen/ATen.h>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "core/error.h"
#include "io/file.h"

namespace penumbra::io {
namespace {

static_assert(std::endian::native == std::endian::little, "the header is written in the machine's byte order");

constexpr int16_t float32_type = 16;
constexpr int16_t aligned = 2;  // coordinates that are agreed upon rather than the scanner's
constexpr char mm_and_seconds = 2 + 8;
constexpr int32_t data_offset = 352;  // the header and four bytes that say: no extension

/// The names and the order of the standard.
struct NiftiHeader {
  int32_t sizeof_hdr = 348;
  char data_type[10] = {}, db_name[18] = {};
  int32_t extents = 0;
  int16_t session_error = 0;
  char regular = 'r', dim_info = 0;
  int16_t dim[8] = {};
  float intent_p1 = 0, intent_p2 = 0, intent_p3 = 0;
  int16_t intent_code = 0, datatype = float32_type, bitpix = 32, slice_start = 0;
  float pixdim[8] = {};
  float vox_offset = data_offset, scl_slope = 1, scl_inter = 0;
  int16_t slice_end = 0;
  char slice_code = 0, xyzt_units = mm_and_seconds;
  float cal_max = 0, cal_min = 0, slice_duration = 0, toffset = 0;
  int32_t glmax = 0, glmin = 0;
  char descrip[80] = "penumbra", aux_file[24] = {};
  int16_t qform_code = aligned, sform_code = aligned;
  float quatern_b = 0, quatern_c = 0, quatern_d = 1;  // half a turn about z: x and y run the other way
  float qoffset_x = 0, qoffset_y = 0, qoffset_z = 0;
  float srow_x[4] = {}, srow_y[4] = {}, srow_z[4] = {};
  char intent_name[16] = {}, magic[4] = {'n', '+', '1', '\0'};
};
static_assert(sizeof(NiftiHeader) == 348 && offsetof(NiftiHeader, dim) == 40 && offsetof(NiftiHeader, pixdim) == 76 &&
              offsetof(NiftiHeader, qform_code) == 252 && offsetof(NiftiHeader, magic) == 344);

int16_t extent(int64_t size) {
  if (size < 1 || size > std::numeric_limits<int16_t>::max())
    input_error("NIfTI: expected 1 to 32767 in each dimension, found {}", size);
  return static_cast<int16_t>(size);
}

/// `stored` is [channels, N, H, W].
NiftiHeader header_of(const Tensor& stored, double pixel_mm) {
  NiftiHeader header;
  const auto channels = stored.size(0), count = stored.size(1), height = stored.size(2), width = stored.size(3);
  const int16_t rank = channels > 1 ? 5 : count > 1 ? 4 : 3;
  const int16_t sizes[8] = {rank, extent(width), extent(height), 1, extent(count), extent(channels), 1, 1};
  std::copy(std::begin(sizes), std::end(sizes), header.dim);
  const auto size = static_cast<float>(pixel_mm);
  const float steps[8] = {1, size, size, size, 1, 1, 1, 1};  // the first tells that z is not mirrored
  std::copy(std::begin(steps), std::end(steps), header.pixdim);
  header.qoffset_x = size * static_cast<float>(width - 1) / 2;
  header.qoffset_y = size * static_cast<float>(height - 1) / 2;
  header.srow_x[0] = header.srow_y[1] = -size;
  header.srow_z[2] = size;
  header.srow_x[3] = header.qoffset_x;
  header.srow_y[3] = header.qoffset_y;
  return header;
}

}  // namespace

void write_nifti(const std::filesystem::path& path, const Tensor& images, double pixel_mm) {
  write_file(path, format_nifti(images, pixel_mm));
}

std::string format_nifti(const Tensor& images, double pixel_mm) {
  const auto batch = images.dim() == 3 ? images.unsqueeze(0) : images;
  if (batch.dim() != 4 || batch.is_complex() || !(pixel_mm > 0) || !std::isfinite(pixel_mm))
    throw std::invalid_argument(
        "write_nifti: expected real [channels, H, W] or [N, channels, H, W] and a size, found " +
        describe(images.sizes()));
  const auto stored = batch.detach().to(at::kCPU, at::kFloat).transpose(0, 1).contiguous();
  const auto header = header_of(stored, pixel_mm);
  std::string bytes(data_offset, '\0');
  std::memcpy(bytes.data(), &header, sizeof header);
  bytes.append(static_cast<const char*>(stored.data_ptr()), stored.nbytes());
  return bytes;
}

}  // namespace penumbra::io
