#include "io/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/error.h"

namespace penumbra::io {
namespace {

namespace fs = std::filesystem;

/// A file descriptor that is closed at the end of its scope.
class Descriptor {
 public:
  Descriptor(const fs::path& path, int flags) : fd_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  explicit operator bool() const { return fd_ >= 0; }
  int get() const { return fd_; }
  /// Closing reports the last failed write on network file systems.
  bool close() { return ::close(std::exchange(fd_, -1)) == 0; }

 private:
  int fd_;
};

/// Removes the file at the end of its scope, unless it was renamed away.
struct Temporary {
  fs::path path;
  ~Temporary() {
    if (!path.empty()) ::unlink(path.c_str());
  }
};

[[noreturn]] void cannot_write(const fs::path& path, int error) {
  machine_error("{}: cannot be written: {}", path.string(), std::strerror(error));
}

bool write_all(int fd, std::string_view content) {
  constexpr size_t most = 1 << 30;  // Linux writes at most 2 GiB in one call
  while (!content.empty()) {
    const auto written = ::write(fd, content.data(), std::min(content.size(), most));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    content.remove_prefix(written);
  }
  return true;
}

/// Pipes, devices and some network file systems cannot be flushed; that is no failure to write.
bool flush(int fd) { return ::fsync(fd) == 0 || errno == EINVAL || errno == EROFS || errno == ENOTSUP; }

fs::path folder_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

/// Unique among the processes and the threads that write to this folder; short, however long the target's name.
constexpr auto temporary_prefix = ".penumbra-", temporary_suffix = ".tmp";
fs::path temporary_name(const fs::path& folder) {
  static std::atomic<int> count{0};
  return folder / fmt::format("{}{}-{}{}", temporary_prefix, ::getpid(), count++, temporary_suffix);
}

/// A device or a pipe is written to; renaming a file over it would destroy it.
bool is_special(const fs::path& path) {
  std::error_code error;
  const auto status = fs::status(path, error);
  return !error && fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

void write_through(const fs::path& path, const fs::path& shown, int flags, std::string_view content) {
  Descriptor file(path, O_WRONLY | flags);
  if (!file || !write_all(file.get(), content) || !flush(file.get()) || !file.close()) cannot_write(shown, errno);
}

std::string human(uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{} bytes", bytes);
  auto amount = static_cast<double>(bytes) / 1024;
  const char* const units[] = {"KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  for (; amount >= 1024 && unit < 3; ++unit) amount /= 1024;
  return fmt::format("{:.1f} {}", amount, units[unit]);
}

}  // namespace

std::string read_file(const fs::path& path) {
  const auto refuse = [&] { input_error("{}: cannot be read: {}", path.string(), std::strerror(errno)); };
  Descriptor file(path, O_RDONLY);
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0) refuse();
  if (S_ISDIR(status.st_mode)) input_error("{}: is a folder; expected a file", path.string());

  // The size is a hint only: a pipe has none and a file may grow while it is read.
  constexpr size_t chunk = 1 << 16;
  std::string content;
  size_t size = 0;
  content.resize(static_cast<size_t>(std::max<off_t>(status.st_size, 0)) + 1);
  while (true) {
    if (size == content.size()) content.resize(2 * content.size() + chunk);
    const auto got = ::read(file.get(), content.data() + size, content.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse();
    if (got == 0) break;
    size += got;
  }
  content.resize(size);
  return content;
}

void write_file(const fs::path& path, std::string_view content) {
  if (is_special(path)) return write_through(path, path, 0, content);
  Temporary temporary{temporary_name(folder_of(path))};
  write_through(temporary.path, path, O_CREAT | O_TRUNC, content);
  rename_durably(temporary.path, path);
  temporary.path.clear();
}

bool is_left_by_a_kill(const fs::path& path) {
  const auto name = path.filename().string();
  return name.starts_with(temporary_prefix) && name.ends_with(temporary_suffix);
}

void rename_durably(const fs::path& from, const fs::path& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) cannot_write(to, errno);
  // Without this the new name may be lost when the machine stops, though the content is safe.
  Descriptor folder(folder_of(to), O_RDONLY | O_DIRECTORY);
  if (folder && !flush(folder.get())) cannot_write(to, errno);
}

void require_writable(const fs::path& folder, uint64_t bytes) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) input_error("{}: the folder cannot be made: {}", folder.string(), error.message());
  const Temporary probe{temporary_name(folder)};
  try {
    write_through(probe.path, folder, O_CREAT | O_TRUNC, "probe");
  } catch (const MachineError& refused) {
    throw InputError(refused.what());
  }

  struct statvfs room {};
  if (::statvfs(folder.c_str(), &room) != 0)
    input_error("{}: cannot be written: {}", folder.string(), std::strerror(errno));
  if (room.f_blocks == 0) return;  // a file system that does not count
  const auto free = static_cast<uint64_t>(room.f_bavail) * room.f_frsize;
  if (free < bytes) input_error("{}: not enough room: {} needed, {} free", folder.string(), human(bytes), human(free));
}

void require_writable_file(const fs::path& file, uint64_t bytes) {
  if (is_special(file)) return;
  std::error_code none;
  if (file.filename().empty() || fs::is_directory(file, none))
    input_error("{}: expected the name of a file, found that of a folder", file.string());
  const auto folder = folder_of(file);
  if (!fs::is_directory(folder, none))
    input_error("{}: cannot be written: {} is no folder", file.string(), folder.string());
  require_writable(folder, bytes);
}

}  // namespace penumbra::io
