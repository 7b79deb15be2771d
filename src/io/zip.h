/// ZIP archives whose entries are stored, not compressed, as torch.save writes them; read by the central directory.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace penumbra::io {

class Zip {
 public:
  /// Throws InputError, with `name` for the file, where the directory is not well-formed. The bytes must outlive this.
  Zip(std::string_view bytes, const std::string& name);

  std::vector<std::string> names() const;
  bool contains(const std::string& entry) const { return entries_.contains(entry); }

  /// The entry's bytes, where they lie. Throws InputError where there is no such entry, or it is compressed, encrypted
  /// or reaches beyond the archive.
  std::string_view read(const std::string& entry) const;

 private:
  struct Entry {
    uint64_t offset = 0, size = 0, stored_size = 0;
    uint64_t flags = 0, method = 0;
  };

  void read_directory(std::string_view directory, uint64_t count);
  static void widen(Entry& entry, std::string_view extra, const std::string& where);

  std::string_view bytes_;  ///< up to the central directory
  std::string name_;
  std::map<std::string, Entry> entries_;
};

}  // namespace penumbra::io
