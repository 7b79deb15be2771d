#include "io/torch_file.h"

#include <algorithm>
#include <map>
#include <utility>

#include "core/error.h"
#include "core/nearest.h"
#include "io/checkpoint.h"
#include "io/cursor.h"
#include "io/torch_pickle.h"
#include "io/zip.h"

namespace penumbra::io {
namespace {

using Kind = Value::Kind;

constexpr std::string_view zip_magic = "PK\x03\x04";
/// 0x1950a86a20f9469cfc6c, as a pickle's integer of ten bytes.
constexpr std::string_view legacy_magic = "\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19";
constexpr int64_t legacy_protocol = 1001;
constexpr size_t most_tensors = 1 << 17;

void check_size(const Storage& storage, uint64_t bytes, const std::string& where) {
  int64_t expected = 0;
  if (__builtin_mul_overflow(storage.count, storage.element_size, &expected) ||
      bytes != static_cast<uint64_t>(expected))
    input_error("{}: expected {} elements of {} bytes, found {} bytes", where, storage.count, storage.element_size,
                bytes);
}

/// Tensors that repeat their elements, or share them, can be larger than their file, but not without end.
void check_total(int64_t& total, const StoredTensor& tensor, size_t file_size, const std::string& where) {
  const auto most = 16 * static_cast<int64_t>(file_size) + (1 << 20);
  if (__builtin_add_overflow(total, byte_count(tensor.type, tensor.shape, where), &total) || total > most)
    input_error("{}: expected tensors of at most {} bytes in a file of {}", where, most, file_size);
}

/// As JSON, and so safetensors, demands of names: no overlong forms, no surrogates.
bool is_utf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const size_t length = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
    if (length == 0 || text.size() - i < length) return false;
    uint32_t code = length == 1 ? lead : lead & (0x7f >> length);
    for (size_t k = 1; k < length; ++k) {
      const auto byte = static_cast<unsigned char>(text[i + k]);
      if ((byte & 0xc0) != 0x80) return false;
      code = code << 6 | (byte & 0x3f);
    }
    if ((length == 3 && code < 0x800) || (length == 4 && code < 0x10000) || code > 0x10ffff) return false;
    if (code >= 0xd800 && code < 0xe000) return false;
    i += length;
  }
  return true;
}

TorchFile choose(const Pickle& pickle, const StorageBytes& storages, size_t file_size, const std::string& name) {
  const auto dictionary = find_state_dictionary(pickle, name);
  const auto within = dictionary.path.empty() ? name : name + ": " + dictionary.path;
  const auto pairs = entries_of(pickle, dictionary.id);
  TorchFile file;
  int64_t total = 0;
  for (const auto& [key, value] : *pairs) {
    if (pickle[key].kind != Kind::text || !is_tensor(pickle, value)) continue;
    if (pickle[key].text.size() > longest_name)
      input_error("{}: expected names of at most {} bytes", within, longest_name);
    if (!is_utf8(pickle[key].text)) input_error("{}: expected names in UTF-8", within);
    const std::string text(pickle[key].text);
    const auto where = fmt::format("{}: {}", within, excerpt(text));
    auto stored = read_tensor(pickle, value, storages, where);
    check_total(total, stored, file_size, where);
    file.tensors[text] = std::move(stored);
    if (file.tensors.size() > most_tensors) input_error("{}: expected at most {} tensors", within, most_tensors);
  }
  file.chosen = describe_choice(dictionary, remove_common_prefix(file.tensors));
  file.passed_over = foreign_names(pickle);
  return file;
}

/// "unet/data.pkl" -> "unet/".
std::string root_of(const Zip& zip, const std::string& name) {
  constexpr std::string_view pickle = "data.pkl";
  std::string root;
  for (const auto& entry : zip.names()) {
    if (entry.find('/') == entry.npos || entry.substr(entry.find('/') + 1) != pickle) continue;
    if (!root.empty()) input_error("{}: expected one data.pkl in the archive, found several", name);
    root = entry.substr(0, entry.size() - pickle.size());
  }
  if (root.empty()) input_error("{}: expected a file of torch.save, found a ZIP archive without data.pkl", name);
  if (zip.contains(root + "constants.pkl"))
    input_error("{}: expected weights, found a TorchScript program (save its state_dict() instead)", name);
  return root;
}

TorchFile open_archive(std::string_view bytes, const std::string& name) {
  const Zip zip(bytes, name);
  const auto root = root_of(zip, name);
  if (const auto entry = root + "byteorder"; zip.contains(entry) && zip.read(entry) != "little")
    input_error("{}: byteorder: expected little, found {}", name, excerpt(std::string(zip.read(entry).substr(0, 64))));
  const auto pickle = parse_pickle(zip.read(root + "data.pkl"), name);
  const auto storages = [&](const Storage& storage) {
    const auto data = zip.read(fmt::format("{}data/{}", root, storage.key));
    check_size(storage, data.size(), fmt::format("{}: data/{}", name, excerpt(storage.key)));
    return data;
  };
  return choose(pickle, storages, bytes.size(), name);
}

/// The next of several pickles that follow each other.
Pickle next_pickle(Cursor& in, const std::string& name) {
  auto pickle = parse_pickle(in.rest(), name);
  in.take(pickle.size);
  return pickle;
}

void check_system(const Pickle& system, const std::string& name) {
  const auto pairs = entries_of(system, system.root);
  if (!pairs)
    input_error("{}: expected a dictionary about the system, found {}", name, describe_value(system, system.root));
  for (const auto& [key, value] : *pairs)
    if (system[key].text == "little_endian" && system[value].integer == 0)
      input_error("{}: little_endian: expected True, found False", name);
}

/// The size of an element of every storage, by key: the file itself only counts elements.
std::map<std::string, Storage> storages_of(const Pickle& pickle, const std::string& name) {
  std::map<std::string, Storage> storages;
  for (size_t id = 0; id < pickle.values.size(); ++id) {
    const auto found = read_storage(pickle, static_cast<ValueId>(id), name);
    if (!found) continue;
    const auto& first = storages.emplace(found->key, *found).first->second;
    if (first.element_size != found->element_size)
      input_error("{}: storage {}: expected one type, found {} and {}", name, excerpt(found->key), first.type_name,
                  found->type_name);
  }
  return storages;
}

TorchFile open_legacy(std::string_view bytes, const std::string& name) {
  Cursor in(bytes, name);
  next_pickle(in, name);  // the magic number
  const auto protocol = next_pickle(in, name);
  if (protocol[protocol.root].integer != legacy_protocol)
    input_error("{}: legacy torch.save: expected protocol {}, found {}", name, legacy_protocol,
                protocol[protocol.root].integer);
  check_system(next_pickle(in, name), name);
  const auto pickle = next_pickle(in, name);
  const auto known = storages_of(pickle, name);
  const auto keys = next_pickle(in, name);

  std::map<std::string_view, std::string_view> found;
  for (const auto id : keys[keys.root].items) {
    const auto key = keys[id].text;
    const auto storage = key.size() > longest_name ? known.end() : known.find(std::string(key));
    if (storage == known.end()) input_error("{}: a storage is listed that no tensor uses", name);
    const auto count = in.number(8);
    uint64_t size = 0;
    if (__builtin_mul_overflow(count, static_cast<uint64_t>(storage->second.element_size), &size))
      input_error("{}: storage {}: {} elements are too many", name, excerpt(storage->first), count);
    found[storage->first] = in.take(size);
  }
  const auto storages = [&](const Storage& storage) {
    const auto where = fmt::format("{}: storage {}", name, excerpt(storage.key));
    const auto data = found.find(storage.key);
    if (data == found.end()) input_error("{}: the file lists no such storage", where);
    check_size(storage, data->second.size(), where);
    return data->second;
  };
  return choose(pickle, storages, bytes.size(), name);
}

bool is_legacy(std::string_view bytes) {
  constexpr size_t furthest = 32;  // protocol and frame come first
  return bytes.starts_with('\x80') && bytes.substr(0, furthest).find(legacy_magic) != bytes.npos;
}

}  // namespace

bool looks_like_torch_file(std::string_view bytes) { return bytes.starts_with(zip_magic) || is_legacy(bytes); }

TorchFile open_torch_file(std::span<const char> bytes, const std::string& name) {
  const std::string_view view(bytes.data(), bytes.size());
  if (is_legacy(view)) return open_legacy(view, name);
  if (!view.starts_with(zip_magic)) input_error("{}: expected a file of torch.save", name);
  return open_archive(view, name);
}

}  // namespace penumbra::io
