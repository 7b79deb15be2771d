#include "io/hdf5_kspace.h"

#include <fmt/ranges.h>

#include <fstream>
#include <string_view>

#include "core/error.h"
#include "core/nearest.h"

#ifdef PENUMBRA_HDF5
#include "io/apart.h"
#include "io/cursor.h"
#include "io/fastmri.h"
#include "io/ismrmrd.h"
#include "io/npy.h"
#endif

namespace penumbra::io {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view hdf5_magic = "\x89HDF\r\n\x1a\n";

}  // namespace

bool looks_like_hdf5(const fs::path& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return false;
  const auto bytes = fs::file_size(path, error);
  std::ifstream file(path, std::ios::binary);
  std::string found(hdf5_magic.size(), '\0');
  for (uintmax_t at = 0; !error && file && at + hdf5_magic.size() <= bytes; at = at ? 2 * at : 512) {
    file.seekg(static_cast<std::streamoff>(at));
    if (file.read(found.data(), static_cast<std::streamsize>(found.size())) && found == hdf5_magic) return true;
  }
  return false;
}

#ifdef PENUMBRA_HDF5
namespace {

using Notes = std::vector<std::pair<std::string, std::string>>;

// The process that reads hands its parts over as texts, each after its length.

void append(std::string& bytes, std::string_view part) {
  for (size_t i = 0; i < 8; ++i) bytes += static_cast<char>(static_cast<uint64_t>(part.size()) >> (8 * i));
  bytes += part;
}

std::string_view next(Cursor& cursor) { return cursor.take(cursor.number(8)); }

void append(std::string& bytes, const Tensor& array) { append(bytes, array.defined() ? format_npy(array) : ""); }

Tensor next_array(Cursor& cursor, const std::string& name) {
  const auto part = next(cursor);
  return part.empty() ? Tensor() : parse_npy(part, name);
}

std::string pack(const Kspace& kspace) {
  std::string bytes;
  append(bytes, kspace.format);
  append(bytes, std::to_string(kspace.slices));
  for (const auto& array : {kspace.samples, kspace.mask, kspace.averages, kspace.noise}) append(bytes, array);
  return bytes;
}

Kspace unpack_kspace(const std::string& bytes, const std::string& name) {
  Cursor cursor(bytes, name);
  Kspace kspace;
  kspace.format = next(cursor);
  kspace.slices = std::stoll(std::string(next(cursor)));
  for (auto* array : {&kspace.samples, &kspace.mask, &kspace.averages, &kspace.noise})
    *array = next_array(cursor, name);
  return kspace;
}

std::string pack(const Notes& notes) {
  std::string bytes;
  for (const auto& [name, text] : notes) {
    append(bytes, name);
    append(bytes, text);
  }
  return bytes;
}

Notes unpack_notes(const std::string& bytes, const std::string& name) {
  Cursor cursor(bytes, name);
  Notes notes;
  while (cursor.left() > 0) {
    const auto key = next(cursor);
    notes.emplace_back(key, next(cursor));
  }
  return notes;
}

[[noreturn]] void refuse_contents(const Hdf5File& file) {
  std::vector<std::string> names;
  for (const auto& name : file.contents()) names.push_back(excerpt(name));
  input_error("{}: expected a dataset `kspace` (fastMRI) or a group with `xml` and `data` (ISMRMRD), found {}",
              file.name(), names.empty() ? "nothing" : fmt::format("{}", fmt::join(names, ", ")));
}

Kspace read_here(const fs::path& path, int64_t slice) {
  const Hdf5File file(path);
  if (file.has_dataset("kspace")) return read_fastmri(file, slice);
  if (const auto group = find_ismrmrd(file)) return read_ismrmrd(file, *group, slice);
  refuse_contents(file);
}

Notes read_notes_here(const fs::path& path) {
  const Hdf5File file(path);
  auto notes = file.attributes();
  const auto group = file.has_dataset("kspace") ? std::nullopt : find_ismrmrd(file);
  const auto header = group ? *group + "/xml" : "ismrmrd_header";
  if (file.has_dataset(header))
    for (auto& note : ismrmrd_notes(file.text(header), file.name() + ": " + header)) notes.push_back(std::move(note));
  return notes;
}

/// Ten seconds, and one for every 10 MB: enough to unpack them, and an end where the library turns in circles.
std::string run_reader(const std::function<std::string()>& work, const fs::path& path) {
  std::error_code error;
  const auto bytes = fs::file_size(path, error);
  return run_apart(work, path.string(), "the HDF5 library", 10 + (error ? 0 : bytes / 10'000'000));
}

}  // namespace

bool reads_hdf5() { return true; }

Kspace read_hdf5_kspace(const fs::path& path, int64_t slice) {
  const auto name = path.string();
  return unpack_kspace(run_reader([&] { return pack(read_here(path, slice)); }, path), name);
}

std::vector<std::pair<std::string, std::string>> read_hdf5_notes(const fs::path& path) {
  const auto name = path.string();
  return unpack_notes(run_reader([&] { return pack(read_notes_here(path)); }, path), name);
}

#else

namespace {

[[noreturn]] void refuse_hdf5(const fs::path& path) {
  input_error(
      "{}: an HDF5 file, but this program was built without the HDF5 library; convert it to NPY or BART's cfl, or "
      "build again with it installed (Debian: libhdf5-dev)",
      path.string());
}

}  // namespace

bool reads_hdf5() { return false; }
bool reads_ismrmrd() { return false; }
Kspace read_hdf5_kspace(const fs::path& path, int64_t) { refuse_hdf5(path); }
std::vector<std::pair<std::string, std::string>> read_hdf5_notes(const fs::path& path) { refuse_hdf5(path); }

#endif

}  // namespace penumbra::io
