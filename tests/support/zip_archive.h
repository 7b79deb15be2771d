/// ZIP archives of stored entries, made by hand: what torch.save would write, around whatever a test puts inside.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace penumbra::test {

inline void append_number(std::string& bytes, uint64_t number, size_t width) {
  for (size_t i = 0; i < width; ++i) bytes += static_cast<char>(number >> (8 * i));
}

/// `method` 0 is stored; any other is only claimed. Checksums are zero: nobody reads them.
inline std::string zip_archive(const std::vector<std::pair<std::string, std::string>>& entries, int method = 0) {
  std::string bytes, directory;
  for (const auto& [name, data] : entries) {
    const auto offset = bytes.size();
    std::string common;  // flags, method, time, date, checksum, sizes, length of the name, of the extra field
    append_number(common, 0, 2);
    append_number(common, static_cast<uint64_t>(method), 2);
    append_number(common, 0, 8);
    append_number(common, data.size(), 4);
    append_number(common, data.size(), 4);
    append_number(common, name.size(), 2);
    append_number(common, 0, 2);
    append_number(bytes, 0x04034b50, 4);
    append_number(bytes, 20, 2);
    bytes += common + name + data;
    append_number(directory, 0x02014b50, 4);
    append_number(directory, 20, 2);
    append_number(directory, 20, 2);
    directory += common;
    directory.append(10, '\0');
    append_number(directory, offset, 4);
    directory += name;
  }
  const auto offset = bytes.size();
  bytes += directory;
  append_number(bytes, 0x06054b50, 4);
  append_number(bytes, 0, 4);
  append_number(bytes, entries.size(), 2);
  append_number(bytes, entries.size(), 2);
  append_number(bytes, directory.size(), 4);
  append_number(bytes, offset, 4);
  append_number(bytes, 0, 2);
  return bytes;
}

}  // namespace penumbra::test
