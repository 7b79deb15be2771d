// The numbers are those of PKWARE's APPNOTE: 4.3.7 (local header), 4.3.12 (central directory), 4.3.14 to 4.3.16 (ends).
#include "io/zip.h"

#include <algorithm>

#include "core/error.h"
#include "core/nearest.h"
#include "io/cursor.h"

namespace penumbra::io {
namespace {

constexpr uint64_t local_signature = 0x04034b50, central_signature = 0x02014b50, end_signature = 0x06054b50;
constexpr uint64_t end64_signature = 0x06064b50, locator64_signature = 0x07064b50;
constexpr size_t end_size = 22, locator64_size = 20, central_size = 46;
constexpr uint64_t in_extra = 0xffffffff;  // the number stands in the ZIP64 field instead
constexpr uint64_t most_entries = 1 << 20;

struct Directory {
  uint64_t count = 0, size = 0, offset = 0;
};

/// The end record is the last thing but a comment of at most 64 KiB, whose length it states.
size_t find_end(std::string_view bytes, const std::string& name) {
  const size_t furthest = end_size + 0xffff;
  for (size_t back = end_size; back <= std::min(bytes.size(), furthest); ++back) {
    Cursor in(bytes.substr(bytes.size() - back), name);
    if (in.number(4) != end_signature) continue;
    in.take(end_size - 6);
    if (in.number(2) == back - end_size) return bytes.size() - back;
  }
  input_error("{}: ZIP archive: no end of the directory: the file is truncated or damaged", name);
}

Directory find_directory(std::string_view bytes, const std::string& name) {
  const auto end = find_end(bytes, name);
  Directory directory;
  Cursor in(bytes.substr(end), name);
  in.take(10);
  directory.count = in.number(2);
  directory.size = in.number(4);
  directory.offset = in.number(4);
  if (end < locator64_size) return directory;

  Cursor locator(bytes.substr(end - locator64_size), name);
  if (locator.number(4) != locator64_signature) return directory;
  locator.take(4);
  const auto at = locator.number(8);
  if (at > bytes.size()) input_error("{}: ZIP archive: its ZIP64 end record lies beyond the file", name);
  Cursor wide(bytes.substr(at), name);
  if (wide.number(4) != end64_signature)
    input_error("{}: ZIP archive: expected a ZIP64 end record at byte {}", name, at);
  wide.take(28);
  directory.count = wide.number(8);
  directory.size = wide.number(8);
  directory.offset = wide.number(8);
  return directory;
}

}  // namespace

Zip::Zip(std::string_view bytes, const std::string& name) : name_(name) {
  const auto [count, size, offset] = find_directory(bytes, name);
  if (offset > bytes.size() || size > bytes.size() - offset)
    input_error("{}: ZIP archive: its directory, {} bytes at {}, lies beyond the file's {} bytes", name, size, offset,
                bytes.size());
  if (count > most_entries || count > size / central_size)
    input_error("{}: ZIP archive: {} entries do not fit the directory's {} bytes", name, count, size);
  bytes_ = bytes.substr(0, offset);
  read_directory(bytes.substr(offset, size), count);
}

void Zip::read_directory(std::string_view directory, uint64_t count) {
  const auto where = name_ + ": ZIP directory";
  Cursor in(directory, where);
  for (uint64_t i = 0; i < count; ++i) {
    if (in.number(4) != central_signature) input_error("{}: entry {}: wrong signature", where, i);
    Entry entry;
    in.take(4);
    entry.flags = in.number(2);
    entry.method = in.number(2);
    in.take(8);
    entry.stored_size = in.number(4);
    entry.size = in.number(4);
    const auto name_size = in.number(2), extra_size = in.number(2), comment_size = in.number(2);
    in.take(8);
    entry.offset = in.number(4);
    const std::string key(in.take(name_size));
    widen(entry, in.take(extra_size), where);
    in.take(comment_size);
    if (!entries_.emplace(key, entry).second) input_error("{}: {} comes twice", where, excerpt(key));
  }
}

void Zip::widen(Entry& entry, std::string_view extra, const std::string& where) {
  constexpr uint64_t zip64 = 1;
  Cursor in(extra, where);
  while (in.left() >= 4) {
    const auto id = in.number(2), size = in.number(2);
    Cursor field(in.take(size), where);
    if (id != zip64) continue;
    for (auto* number : {&entry.size, &entry.stored_size, &entry.offset})
      if (*number == in_extra) *number = field.number(8);
    return;
  }
}

std::vector<std::string> Zip::names() const {
  std::vector<std::string> names;
  for (const auto& [key, entry] : entries_) names.push_back(key);
  return names;
}

std::string_view Zip::read(const std::string& key) const {
  const auto where = fmt::format("{}: {}", name_, excerpt(key));
  const auto found = entries_.find(key);
  if (found == entries_.end()) input_error("{}: the archive has no such entry", where);
  const auto& entry = found->second;
  constexpr uint64_t encrypted = 1, stored = 0, deflated = 8;
  if (entry.flags & encrypted) input_error("{}: expected a plain entry, found an encrypted one", where);
  if (entry.method != stored)
    input_error(
        "{}: expected a stored entry, as torch.save writes them, found {} (unpack the archive and pack it "
        "again without compression: zip -0)",
        where, entry.method == deflated ? "a compressed one" : fmt::format("method {}", entry.method));
  if (entry.size != entry.stored_size)
    input_error("{}: expected one size, found {} and {}", where, entry.size, entry.stored_size);

  if (entry.offset > bytes_.size()) input_error("{}: lies beyond the archive: the file is truncated", where);
  Cursor in(bytes_.substr(entry.offset), where);
  if (in.number(4) != local_signature) input_error("{}: expected the entry at byte {}", where, entry.offset);
  in.take(22);
  const auto name_size = in.number(2), extra_size = in.number(2);
  in.take(name_size + extra_size);
  return in.take(entry.size);
}

}  // namespace penumbra::io
