#include "io/hdf5_kspace.h"

#include <fmt/ranges.h>

#include <fstream>
#include <string_view>

#include "core/error.h"
#include "core/nearest.h"

#ifdef PENUMBRA_HDF5
#include <mutex>

#include "io/fastmri.h"
#include "io/ismrmrd.h"
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

/// The library's usual build is not made for threads.
std::unique_lock<std::mutex> one_at_a_time() {
  static std::mutex mutex;
  return std::unique_lock(mutex);
}

[[noreturn]] void refuse_contents(const Hdf5File& file) {
  std::vector<std::string> names;
  for (const auto& name : file.contents()) names.push_back(excerpt(name));
  input_error("{}: expected a dataset `kspace` (fastMRI) or a group with `xml` and `data` (ISMRMRD), found {}",
              file.name(), names.empty() ? "nothing" : fmt::format("{}", fmt::join(names, ", ")));
}

}  // namespace

bool reads_hdf5() { return true; }

Kspace read_hdf5_kspace(const fs::path& path, int64_t slice) {
  const auto lock = one_at_a_time();
  const Hdf5File file(path);
  if (file.has_dataset("kspace")) return read_fastmri(file, slice);
  if (const auto group = find_ismrmrd(file)) return read_ismrmrd(file, *group, slice);
  refuse_contents(file);
}

std::vector<std::pair<std::string, std::string>> read_hdf5_notes(const fs::path& path) {
  const auto lock = one_at_a_time();
  const Hdf5File file(path);
  auto notes = file.attributes();
  const auto group = file.has_dataset("kspace") ? std::nullopt : find_ismrmrd(file);
  const auto header = group ? *group + "/xml" : "ismrmrd_header";
  if (file.has_dataset(header))
    for (auto& note : ismrmrd_notes(file.text(header), file.name() + ": " + header)) notes.push_back(std::move(note));
  return notes;
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
