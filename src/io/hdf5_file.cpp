#ifdef PENUMBRA_HDF5
#include "io/hdf5_file.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <fstream>

#include "core/error.h"
#include "core/nearest.h"
#include "io/hdf5_heap.h"

namespace penumbra::io {
namespace {

constexpr hsize_t most_names = 32;
constexpr size_t longest_text = 1 << 20;
// What deflate reaches at best. A chunk that was never written takes no room at all, and is refused beyond this.
constexpr uint64_t best_compression = 1032;

Hdf5Handle space_of(hid_t space) { return {space, H5Sclose}; }
Hdf5Handle type_of(hid_t type) { return {type, H5Tclose}; }

/// Scalars and arrays of one element alike.
bool is_single(hid_t space) { return space >= 0 && H5Sget_simple_extent_npoints(space) == 1; }

std::string up_to_nul(const std::string& text) { return text.substr(0, text.find('\0')); }

std::string attribute_string(hid_t attribute, hid_t type, hid_t space) {
  if (H5Tis_variable_str(type) > 0) {
    char* pointer = nullptr;
    if (H5Aread(attribute, type, &pointer) < 0 || !pointer) return {};
    std::string text(pointer, strnlen(pointer, longest_text));
    H5Dvlen_reclaim(type, space, H5P_DEFAULT, &pointer);
    return text;
  }
  const auto size = H5Tget_size(type);
  if (size == 0 || size > longest_text) return {};
  std::string text(size, '\0');
  return H5Aread(attribute, type, text.data()) < 0 ? "" : up_to_nul(text);
}

std::string attribute_text(hid_t attribute) {
  const auto type = type_of(H5Aget_type(attribute));
  const auto space = space_of(H5Aget_space(attribute));
  if (!type || !is_single(space.get())) return {};
  switch (H5Tget_class(type.get())) {
    case H5T_STRING:
      return attribute_string(attribute, type.get(), space.get());
    case H5T_INTEGER: {
      int64_t number = 0;
      return H5Aread(attribute, H5T_NATIVE_INT64, &number) < 0 ? "" : fmt::format("{}", number);
    }
    case H5T_FLOAT: {
      double number = 0;
      return H5Aread(attribute, H5T_NATIVE_DOUBLE, &number) < 0 ? "" : fmt::format("{:.8g}", number);
    }
    default:
      return {};
  }
}

uint64_t size_on_disk(const std::filesystem::path& path) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(path, error);
  if (error) input_error("{}: cannot be read: {}", path.string(), error.message());
  return bytes;
}

hid_t open_file(const std::filesystem::path& path) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // failures are ours to report
  return H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
}

}  // namespace

std::string hdf5_reason() {
  std::string reason;
  const auto keep = [](unsigned, const H5E_error2_t* error, void* out) -> herr_t {
    if (error->desc) *static_cast<std::string*>(out) = error->desc;
    return 1;  // the first is the innermost
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep, &reason);
  return reason.empty() ? "no reason given" : excerpt(reason);
}

Hdf5File::Hdf5File(const std::filesystem::path& path)
    : name_(path.string()), bytes_(size_on_disk(path)), handle_(open_file(path), H5Fclose) {
  if (!handle_) input_error("{}: expected an HDF5 file that can be read: {}", name_, hdf5_reason());
}

bool Hdf5File::has_dataset(const std::string& path) const {
  // Every group on the way has to exist before the library may be asked about what is in it.
  for (size_t end = path.find('/'); end != path.npos; end = path.find('/', end + 1))
    if (H5Lexists(get(), path.substr(0, end).c_str(), H5P_DEFAULT) <= 0) return false;
  if (H5Lexists(get(), path.c_str(), H5P_DEFAULT) <= 0) return false;
  const Hdf5Handle object(H5Oopen(get(), path.c_str(), H5P_DEFAULT), H5Oclose);
  return object && H5Iget_type(object.get()) == H5I_DATASET;
}

std::vector<std::string> Hdf5File::contents() const {
  std::vector<std::string> names;
  H5G_info_t group{};
  if (H5Gget_info(get(), &group) < 0) return names;
  for (hsize_t i = 0; i < std::min(group.nlinks, most_names); ++i) {
    char name[256] = "";
    if (H5Lget_name_by_idx(get(), ".", H5_INDEX_NAME, H5_ITER_INC, i, name, sizeof name, H5P_DEFAULT) > 0)
      names.emplace_back(name);
  }
  return names;
}

std::vector<std::pair<std::string, std::string>> Hdf5File::attributes() const {
  std::vector<std::pair<std::string, std::string>> found;
  for (hsize_t i = 0; i < most_names; ++i) {
    const Hdf5Handle attribute(H5Aopen_by_idx(get(), ".", H5_INDEX_NAME, H5_ITER_INC, i, H5P_DEFAULT, H5P_DEFAULT),
                               H5Aclose);
    if (!attribute) break;
    char name[256] = "";
    if (H5Aget_name(attribute.get(), sizeof name, name) <= 0) continue;
    if (auto text = attribute_text(attribute.get()); !text.empty()) found.emplace_back(name, std::move(text));
  }
  return found;
}

std::string Hdf5File::text(const std::string& path) const {
  const Hdf5Dataset dataset(*this, path);
  const auto type = dataset.type();
  const auto count = std::vector<int64_t>(dataset.shape().size(), 1);
  if (!type || H5Tget_class(type.get()) != H5T_STRING || count != dataset.shape())
    input_error("{}: expected one text, found something else", dataset.where());
  if (H5Tis_variable_str(type.get()) > 0) return up_to_nul(dataset.variable(0, 0, 1));
  std::string text(std::min(H5Tget_size(type.get()), bytes_), '\0');  // the constructor saw that it is no larger
  dataset.read(type.get(), std::vector<int64_t>(count.size(), 0), count, text.data());
  return up_to_nul(text);
}

std::string Hdf5File::bytes_at(uint64_t place, uint64_t count, const std::string& where) const {
  if (place > bytes_ || count > bytes_ - place)
    input_error("{}: expected {} bytes at byte {} of the file, which has {} (is it truncated?)", where, count, place,
                bytes_);
  std::string bytes(count, '\0');
  std::ifstream file(name_, std::ios::binary);
  if (!file.seekg(static_cast<std::streamoff>(place)) || !file.read(bytes.data(), static_cast<std::streamsize>(count)))
    input_error("{}: cannot be read", where);
  return bytes;
}

Hdf5Dataset::Hdf5Dataset(const Hdf5File& file, const std::string& path)
    : file_(file),
      where_(file.name() + ": " + path),
      handle_(H5Dopen2(file.get(), path.c_str(), H5P_DEFAULT), H5Dclose) {
  if (!handle_) input_error("{}: expected a dataset that can be read: {}", where_, hdf5_reason());
  const auto space = space_of(H5Dget_space(handle_.get()));
  const int rank = space ? H5Sget_simple_extent_ndims(space.get()) : -1;
  if (rank < 0) input_error("{}: expected an array: {}", where_, hdf5_reason());
  std::vector<hsize_t> extents(static_cast<size_t>(rank));
  H5Sget_simple_extent_dims(space.get(), extents.data(), nullptr);
  shape_.assign(extents.begin(), extents.end());
  check_storage(file);
}

Hdf5Handle Hdf5Dataset::type() const { return {H5Dget_type(handle_.get()), H5Tclose}; }

void Hdf5Dataset::check_storage(const Hdf5File& file) const {
  const auto stored = type();
  const Hdf5Handle creation(H5Dget_create_plist(handle_.get()), H5Pclose);
  if (!stored || !creation) input_error("{}: expected a dataset that can be read: {}", where_, hdf5_reason());
  const bool is_chunked = H5Pget_layout(creation.get()) == H5D_CHUNKED;
  const uint64_t limit = H5Pget_nfilters(creation.get()) > 0 ? file.bytes() * best_compression : file.bytes();
  const auto require_room = [&](const char* what, auto&& extents) {
    uint64_t bytes = H5Tget_size(stored.get());
    for (const auto extent : extents)
      if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(extent), &bytes) || bytes > limit)
        input_error("{}: {}: {} elements of {} bytes cannot be in a file of {} bytes (is it truncated?)", where_, what,
                    fmt::join(extents, "x"), H5Tget_size(stored.get()), file.bytes());
  };
  require_room("shape", shape_);
  if (!is_chunked) return;
  // A chunk is unpacked whole, however little of it is read; a small array may have a chunk larger than itself.
  std::vector<hsize_t> chunk(shape_.size());
  if (H5Pget_chunk(creation.get(), static_cast<int>(chunk.size()), chunk.data()) < 0)
    input_error("{}: expected chunks that can be read: {}", where_, hdf5_reason());
  require_room("chunks", chunk);
}

void Hdf5Dataset::read(hid_t memory, const std::vector<int64_t>& start, const std::vector<int64_t>& count,
                       void* out) const {
  const std::vector<hsize_t> first(start.begin(), start.end()), extent(count.begin(), count.end());
  const auto file_space = space_of(H5Dget_space(handle_.get()));
  const auto memory_space =
      space_of(extent.empty() ? H5Screate(H5S_SCALAR)
                              : H5Screate_simple(static_cast<int>(extent.size()), extent.data(), nullptr));
  const bool selected = extent.empty() || H5Sselect_hyperslab(file_space.get(), H5S_SELECT_SET, first.data(), nullptr,
                                                              extent.data(), nullptr) >= 0;
  if (!selected || H5Dread(handle_.get(), memory, memory_space.get(), file_space.get(), H5P_DEFAULT, out) < 0)
    input_error("{}: cannot be read: {}", where_, hdf5_reason());
}

std::string Hdf5Dataset::variable(int64_t index, size_t offset, size_t item_bytes) const {
  const auto reference = parse_heap_reference(stored(index, offset, heap_reference_bytes), where_);
  if (reference.count == 0) return {};
  const auto size = parse_heap_head(file_.bytes_at(reference.collection, heap_head_bytes, where_), where_);
  const auto collection = file_.bytes_at(reference.collection, size, where_);
  const auto object = find_heap_object(collection, reference.index, where_);
  if (object.size() != reference.count * item_bytes)
    input_error("{}: expected {} items of {} bytes, found {} bytes (is the file damaged?)", where_, reference.count,
                item_bytes, object.size());
  return std::string(object);
}

/// Part of an element as it is in the file. Addresses are taken as they come: with a user's block before, or with
/// addresses of other than 8 bytes, they would mean something else.
std::string Hdf5Dataset::stored(int64_t index, size_t offset, size_t count) const {
  const Hdf5Handle file_creation(H5Fget_create_plist(file_.get()), H5Pclose);
  const Hdf5Handle creation(H5Dget_create_plist(handle_.get()), H5Pclose);
  const auto element = type();
  hsize_t user_block = 0;
  size_t address_bytes = 0, length_bytes = 0;
  H5Pget_userblock(file_creation.get(), &user_block);
  H5Pget_sizes(file_creation.get(), &address_bytes, &length_bytes);
  if (user_block != 0 || address_bytes != 8 || length_bytes != 8 || H5Pget_nfilters(creation.get()) != 0)
    input_error(
        "{}: expected plain storage, found compression, a user's block or short addresses; h5repack -f NONE -u 0 "
        "takes them off",
        where_);
  // A sequence takes as many bytes in memory, of which the type tells, as in the file; a text does not.
  static_assert(sizeof(hvl_t) == heap_reference_bytes);
  const bool is_text = H5Tis_variable_str(element.get()) > 0;
  const auto size = is_text ? heap_reference_bytes : H5Tget_size(element.get());
  if (H5Pget_layout(creation.get()) == H5D_CHUNKED) {
    const auto& chunk = chunk_at(creation.get(), index, size);
    const auto place = static_cast<size_t>(index - chunk_first_) * size + offset;
    if (place + count > chunk.size()) input_error("{}: expected another layout of its elements", where_);
    return chunk.substr(place, count);
  }
  const auto start = H5Dget_offset(handle_.get());
  if (start == HADDR_UNDEF) input_error("{}: expected data, found none", where_);
  return file_.bytes_at(start + static_cast<uint64_t>(index) * size + offset, count, where_);
}

const std::string& Hdf5Dataset::chunk_at(hid_t creation, int64_t index, size_t element_bytes) const {
  std::vector<hsize_t> extents(shape_.size()), first(shape_.size(), 0);
  if (extents.empty() || H5Pget_chunk(creation, static_cast<int>(extents.size()), extents.data()) < 0)
    input_error("{}: expected chunks that can be read: {}", where_, hdf5_reason());
  first[0] = static_cast<hsize_t>(index) / extents[0] * extents[0];
  if (chunk_first_ == static_cast<int64_t>(first[0])) return chunk_;
  hsize_t expected = element_bytes, found = 0;  // no overflow: check_storage saw these numbers
  for (const auto extent : extents) expected *= extent;
  if (H5Dget_chunk_storage_size(handle_.get(), first.data(), &found) < 0 || found != expected)
    input_error("{}: expected {} bytes in the chunk of element {}, found {} (is the file damaged?)", where_, expected,
                index, found);
  std::string bytes(expected, '\0');
  uint32_t filters = 0;
  if (H5Dread_chunk(handle_.get(), H5P_DEFAULT, first.data(), &filters, bytes.data()) < 0)
    input_error("{}: the chunk of element {} cannot be read: {}", where_, index, hdf5_reason());
  chunk_ = std::move(bytes);
  chunk_first_ = static_cast<int64_t>(first[0]);
  return chunk_;
}

}  // namespace penumbra::io
#endif
