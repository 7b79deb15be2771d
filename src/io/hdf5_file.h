/// The little of HDF5's C library that reading k-space takes: handles that close themselves, and limits on what a
/// file's claims may make us allocate. Only for files that are compiled with the library (cmake/hdf5.cmake).
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace penumbra::io {

/// One of the library's identifiers, closed at the end of its scope.
class Hdf5Handle {
 public:
  using Close = herr_t (*)(hid_t);
  Hdf5Handle(hid_t id, Close close) : id_(id), close_(close) {}
  Hdf5Handle(Hdf5Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Hdf5Handle(const Hdf5Handle&) = delete;
  Hdf5Handle& operator=(const Hdf5Handle&) = delete;
  Hdf5Handle& operator=(Hdf5Handle&&) = delete;
  ~Hdf5Handle() {
    if (id_ >= 0) close_(id_);
  }
  explicit operator bool() const { return id_ >= 0; }
  hid_t get() const { return id_; }

 private:
  hid_t id_;
  Close close_;
};

class Hdf5File {
 public:
  /// Throws InputError where the file is not HDF5.
  explicit Hdf5File(const std::filesystem::path& path);

  hid_t get() const { return handle_.get(); }
  const std::string& name() const { return name_; }
  uint64_t bytes() const { return bytes_; }

  /// The file's own bytes; InputError, naming `where`, past its end.
  std::string bytes_at(uint64_t place, uint64_t count, const std::string& where) const;

  bool has_dataset(const std::string& path) const;
  /// The names in the root group, the first 32.
  std::vector<std::string> contents() const;
  /// The root group's attributes that are one number or one text.
  std::vector<std::pair<std::string, std::string>> attributes() const;
  /// A dataset that holds one text; InputError where it does not.
  std::string text(const std::string& path) const;

 private:
  std::string name_;
  uint64_t bytes_ = 0;
  Hdf5Handle handle_;
};

class Hdf5Dataset {
 public:
  /// Throws InputError where it is missing, or where the file is too small for what it claims to hold.
  Hdf5Dataset(const Hdf5File& file, const std::string& path);

  const std::vector<int64_t>& shape() const { return shape_; }
  /// "file: dataset", for messages.
  const std::string& where() const { return where_; }
  Hdf5Handle type() const;
  /// The block of elements at `start`; `out` has room for them in the type `memory`.
  void read(hid_t memory, const std::vector<int64_t>& start, const std::vector<int64_t>& count, void* out) const;
  /// Of a list or a single element: the items of variable length, each of so many bytes, to which the element with this
  /// index refers at `offset` of its bytes.
  std::string variable(int64_t index, size_t offset, size_t item_bytes) const;

 private:
  void check_storage(const Hdf5File& file) const;
  std::string stored(int64_t index, size_t offset, size_t count) const;
  const std::string& chunk_at(hid_t creation, int64_t index, size_t element_bytes) const;

  const Hdf5File& file_;
  std::string where_;
  Hdf5Handle handle_;
  std::vector<int64_t> shape_;
  mutable std::string chunk_;  ///< the last one that was asked for, and where it begins
  mutable int64_t chunk_first_ = -1;
};

/// What the library says about its last failure.
std::string hdf5_reason();

}  // namespace penumbra::io
