#ifdef PENUMBRA_ISMRMRD
#include "io/ismrmrd_readout.h"

#include <ATen/ATen.h>
#include <ismrmrd/ismrmrd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <initializer_list>

#include "core/error.h"

namespace penumbra::io {
namespace {

constexpr int64_t batch = 1024;

/// What is asked of a row; HDF5 picks these members out of it by their names.
struct Counters {
  uint16_t line, plane, slice, contrast, phase, repetition, set;
};
struct Head {
  uint64_t flags;
  uint16_t number_of_samples, active_channels, discard_pre, discard_post, center_sample, encoding_space_ref;
  Counters idx;
};

struct Member {
  const char* name;
  size_t offset;
  hid_t type;
};

Hdf5Handle compound(size_t size, std::initializer_list<Member> members) {
  Hdf5Handle type(H5Tcreate(H5T_COMPOUND, size), H5Tclose);
  for (const auto& [name, offset, member] : members) H5Tinsert(type.get(), name, offset, member);
  return type;
}

Hdf5Handle member_type(hid_t type, const char* name) {
  const int index = type >= 0 && H5Tget_class(type) == H5T_COMPOUND ? H5Tget_member_index(type, name) : -1;
  return {index < 0 ? -1 : H5Tget_member_type(type, static_cast<unsigned>(index)), H5Tclose};
}

/// Members that a file lacks would silently stay what they were in memory.
void require_members(hid_t type, const std::vector<const char*>& names, H5T_class_t kind, const std::string& where) {
  for (const auto* name : names) {
    const auto member = member_type(type, name);
    if (!member || H5Tget_class(member.get()) != kind)
      input_error("{}: expected ISMRMRD's readouts, with a field {} of its type, found none", where, name);
  }
}

bool has_flag(uint64_t flags, int flag) { return flags >> (flag - 1) & 1; }

/// What is no part of the image.
constexpr int other_flags[] = {ISMRMRD::ISMRMRD_ACQ_IS_NOISE_MEASUREMENT,
                               ISMRMRD::ISMRMRD_ACQ_IS_NAVIGATION_DATA,
                               ISMRMRD::ISMRMRD_ACQ_IS_PHASECORR_DATA,
                               ISMRMRD::ISMRMRD_ACQ_IS_HPFEEDBACK_DATA,
                               ISMRMRD::ISMRMRD_ACQ_IS_DUMMYSCAN_DATA,
                               ISMRMRD::ISMRMRD_ACQ_IS_RTFEEDBACK_DATA,
                               ISMRMRD::ISMRMRD_ACQ_IS_SURFACECOILCORRECTIONSCAN_DATA};

Hdf5Handle head_type() {
  const auto u16 = H5T_NATIVE_UINT16;
  const auto counters = compound(sizeof(Counters), {{"kspace_encode_step_1", offsetof(Counters, line), u16},
                                                    {"kspace_encode_step_2", offsetof(Counters, plane), u16},
                                                    {"slice", offsetof(Counters, slice), u16},
                                                    {"contrast", offsetof(Counters, contrast), u16},
                                                    {"phase", offsetof(Counters, phase), u16},
                                                    {"repetition", offsetof(Counters, repetition), u16},
                                                    {"set", offsetof(Counters, set), u16}});
  const auto head = compound(sizeof(Head), {{"flags", offsetof(Head, flags), H5T_NATIVE_UINT64},
                                            {"number_of_samples", offsetof(Head, number_of_samples), u16},
                                            {"active_channels", offsetof(Head, active_channels), u16},
                                            {"discard_pre", offsetof(Head, discard_pre), u16},
                                            {"discard_post", offsetof(Head, discard_post), u16},
                                            {"center_sample", offsetof(Head, center_sample), u16},
                                            {"encoding_space_ref", offsetof(Head, encoding_space_ref), u16},
                                            {"idx", offsetof(Head, idx), counters.get()}});
  return compound(sizeof(Head), {{"head", 0, head.get()}});
}

Readout readout_of(const Head& head, int64_t index) {
  Readout readout;
  readout.index = index;
  readout.flags = head.flags;
  readout.count = head.number_of_samples;
  readout.channels = head.active_channels;
  readout.first = head.discard_pre;
  readout.past = int64_t{head.number_of_samples} - head.discard_post;
  readout.centre = head.center_sample;
  readout.line = head.idx.line;
  readout.plane = head.idx.plane;
  readout.slice = head.idx.slice;
  readout.is_of_first_set = head.idx.contrast == 0 && head.idx.phase == 0 && head.idx.repetition == 0 &&
                            head.idx.set == 0 && head.encoding_space_ref == 0;
  return readout;
}

}  // namespace

bool Readout::is_noise() const { return has_flag(flags, ISMRMRD::ISMRMRD_ACQ_IS_NOISE_MEASUREMENT); }

bool Readout::is_reversed() const { return has_flag(flags, ISMRMRD::ISMRMRD_ACQ_IS_REVERSE); }

bool Readout::is_image(bool takes_calibration) const {
  if (!takes_calibration && has_flag(flags, ISMRMRD::ISMRMRD_ACQ_IS_PARALLEL_CALIBRATION)) return false;
  return is_of_first_set && std::none_of(std::begin(other_flags), std::end(other_flags),
                                         [this](int flag) { return has_flag(flags, flag); });
}

int64_t Readout::offset(int64_t rows) const {
  const auto zero = centre == 0 && count == rows ? rows / 2 : centre;
  return (is_reversed() ? count - past : first) - zero;
}

ReadoutTable::ReadoutTable(const Hdf5File& file, const std::string& path) : rows_(file, path) {
  const auto row = rows_.type();
  require_members(row.get(), {"head"}, H5T_COMPOUND, rows_.where());
  require_members(row.get(), {"data"}, H5T_VLEN, rows_.where());
  const auto head = member_type(row.get(), "head");
  require_members(head.get(),
                  {"flags", "number_of_samples", "active_channels", "discard_pre", "discard_post", "center_sample",
                   "encoding_space_ref"},
                  H5T_INTEGER, rows_.where());
  require_members(head.get(), {"idx"}, H5T_COMPOUND, rows_.where());
  const auto counters = member_type(head.get(), "idx");
  require_members(counters.get(),
                  {"kspace_encode_step_1", "kspace_encode_step_2", "slice", "contrast", "phase", "repetition", "set"},
                  H5T_INTEGER, rows_.where());
  const auto data = member_type(row.get(), "data");
  const Hdf5Handle element(H5Tget_super(data.get()), H5Tclose);
  if (!element || H5Tequal(element.get(), H5T_IEEE_F32LE) <= 0)
    input_error("{}: data: expected float32 in little endian, real and imaginary parts in turn, found another type",
                rows_.where());
  data_offset_ = H5Tget_member_offset(row.get(), static_cast<unsigned>(H5Tget_member_index(row.get(), "data")));
  if (rows_.shape().size() != 1)
    input_error("{}: expected a list of readouts, found [{}]", rows_.where(), describe(rows_.shape()));
}

std::vector<Readout> ReadoutTable::readouts() const {
  const auto type = head_type();
  const auto rows = rows_.shape()[0];
  std::vector<Readout> readouts;
  std::vector<Head> heads(static_cast<size_t>(std::min(rows, batch)));
  for (int64_t start = 0; start < rows; start += batch) {
    const auto count = std::min(batch, rows - start);
    rows_.read(type.get(), {start}, {count}, heads.data());
    for (int64_t i = 0; i < count; ++i) readouts.push_back(readout_of(heads[static_cast<size_t>(i)], start + i));
  }
  return readouts;
}

Tensor ReadoutTable::samples(const Readout& readout) const {
  if (readout.channels == 0 || readout.first >= readout.past)
    input_error("{}: expected samples, found {} of {} channels, of which {} to {} are to be kept", where(readout),
                readout.count, readout.channels, readout.first, readout.past - 1);
  const auto bytes = rows_.variable(readout.index, data_offset_, sizeof(float));
  auto samples = at::empty({readout.channels, readout.count}, at::kComplexFloat);
  if (bytes.size() != samples.nbytes())
    input_error("{}: expected {} bytes for {} complex samples of {} channels, found {}", where(readout),
                samples.nbytes(), readout.count, readout.channels, bytes.size());
  std::memcpy(samples.data_ptr(), bytes.data(), bytes.size());
  const auto kept = samples.narrow(1, readout.first, readout.past - readout.first);
  return readout.is_reversed() ? kept.flip(1) : kept;
}

std::string ReadoutTable::where(const Readout& readout) const {
  return fmt::format("{}: readout {}", rows_.where(), readout.index);
}

}  // namespace penumbra::io
#endif
