/// One process at a time in a folder.
#pragma once

#include <filesystem>

namespace penumbra::io {

/// Held until the end of the scope; the operating system frees it when the process ends, however it ends.
class FolderLock {
 public:
  /// Throws InputError where another process holds the folder.
  explicit FolderLock(const std::filesystem::path& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_;
};

}  // namespace penumbra::io
