#include "io/safetensors.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/nearest.h"
#include "io/cursor.h"

namespace penumbra::io {
namespace {

using nlohmann::json;

constexpr uint64_t largest_safetensors_header = 100'000'000;  // the limit of the format's own library
constexpr const char* metadata_key = "__metadata__";

struct Entry {
  std::string dtype;
  std::vector<int64_t> shape, offsets;
};

/// Takes the header as the JSON reader meets it, so that nothing is kept that the format does not have and a name that
/// comes twice is seen.
class HeaderReader : public nlohmann::json_sax<json> {
 public:
  HeaderReader(Safetensors& file, std::map<std::string, Entry>& entries, const std::string& name)
      : file_(file), entries_(entries), name_(name) {}

  bool key(string_t& key) override {
    if (place_ == Place::header) {
      if (key.size() > longest_name)
        input_error("{}: header: expected names of at most {} bytes, found one of {}", name_, longest_name, key.size());
      tensor_ = key;
      if (!seen_.insert(key).second) input_error("{}: header: {} comes twice", name_, excerpt(key));
      return true;
    }
    field_ = key;
    if (place_ == Place::tensor && key != "dtype" && key != "shape" && key != "data_offsets")
      input_error("{}: {}: expected dtype, shape and data_offsets, found {}", name_, excerpt(tensor_), excerpt(key));
    const bool twice = place_ == Place::tensor ? !fields_.insert(key).second : file_.metadata.contains(key);
    if (twice) input_error("{}: {}: {} comes twice", name_, excerpt(tensor_), excerpt(key));
    return true;
  }

  bool start_object(size_t) override {
    if (place_ == Place::outside) {
      place_ = Place::header;
    } else if (place_ == Place::header) {
      place_ = tensor_ == metadata_key ? Place::metadata : Place::tensor;
      fields_.clear();
    } else {
      unexpected("an object");
    }
    return true;
  }

  bool end_object() override {
    if (place_ == Place::tensor && fields_.size() != 3)
      input_error("{}: {}: expected dtype, shape and data_offsets, found only {}", name_, excerpt(tensor_),
                  fields_.empty() ? "{}" : fmt::format("{}", fmt::join(fields_, ", ")));
    place_ = place_ == Place::header ? Place::outside : Place::header;
    return true;
  }

  bool start_array(size_t) override {
    if (place_ != Place::tensor || field_ == "dtype") unexpected("a list");
    place_ = Place::list;
    return true;
  }

  bool end_array() override {
    place_ = Place::tensor;
    return true;
  }

  bool string(string_t& text) override {
    if (place_ == Place::metadata)
      file_.metadata.emplace(field_, text);
    else if (place_ == Place::tensor && field_ == "dtype")
      entries_[tensor_].dtype = text;
    else
      unexpected("a text");
    return true;
  }

  bool number_unsigned(number_unsigned_t number) override {
    if (place_ != Place::list || number > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
      unexpected(fmt::format("{}", number));
    auto& entry = entries_[tensor_];
    (field_ == "shape" ? entry.shape : entry.offsets).push_back(static_cast<int64_t>(number));
    return true;
  }

  bool number_integer(number_integer_t number) override { unexpected(fmt::format("{}", number)); }
  bool number_float(number_float_t, const string_t& text) override { unexpected(excerpt(text)); }
  bool null() override { unexpected("null"); }
  bool boolean(bool) override { unexpected("a truth value"); }
  bool binary(binary_t&) override { unexpected("bytes"); }
  bool parse_error(size_t position, const std::string&, const nlohmann::detail::exception&) override {
    input_error("{}: header: expected JSON, which it is not at its byte {}", name_, position);
  }

 private:
  enum class Place { outside, header, metadata, tensor, list };

  [[noreturn]] void unexpected(const std::string& found) const {
    const auto* expected = place_ == Place::outside || place_ == Place::header ? "an object"
                           : place_ == Place::metadata || field_ == "dtype"    ? "a text"
                                                                            : "a list of integers from 0 to 2^63 - 1";
    const auto where = place_ == Place::outside ? "header" : excerpt(tensor_);
    const auto field = place_ == Place::outside || place_ == Place::header ? "" : ": " + excerpt(field_);
    input_error("{}: {}{}: expected {}, found {}", name_, where, field, expected, found);
  }

  Safetensors& file_;
  std::map<std::string, Entry>& entries_;
  const std::string& name_;
  Place place_ = Place::outside;
  std::string tensor_, field_;
  std::set<std::string> seen_, fields_;
};

std::map<std::string, Entry> read_header(std::string_view header, Safetensors& file, const std::string& name) {
  // To the JSON reader a NUL ends the text: whatever followed it would go unseen.
  if (header.find('\0') != header.npos) input_error("{}: header: expected JSON, found a NUL byte in it", name);
  std::map<std::string, Entry> entries;
  HeaderReader reader(file, entries, name);
  json::sax_parse(header.begin(), header.end(), &reader);
  return entries;
}

StoredTensor stored(const Entry& entry, std::string_view data, const std::string& where) {
  const auto type = element_type(entry.dtype);
  if (!type) input_error("{}: dtype: expected one of {}, found {}", where, element_type_names(), excerpt(entry.dtype));
  const auto bytes = byte_count(*type, entry.shape, where);
  if (entry.offsets.size() != 2)
    input_error("{}: data_offsets: expected 2 numbers, found {}", where, entry.offsets.size());
  const auto begin = entry.offsets[0], end = entry.offsets[1];
  if (begin > end || static_cast<uint64_t>(end) > data.size())
    input_error("{}: data_offsets: expected a range within the {} bytes of data, found {} to {}{}", where, data.size(),
                begin, end, begin > end ? "" : " (the file is truncated?)");
  if (end - begin != bytes)
    input_error("{}: data_offsets: expected {} bytes for {} ({}), found {}", where, bytes, entry.dtype,
                fmt::join(entry.shape, ", "), end - begin);
  return {*type, entry.shape, contiguous_strides(entry.shape), data.substr(begin, bytes)};
}

/// The tensors, in the order of their offsets, follow each other from the first byte to the last.
void check_tiling(const std::map<std::string, Entry>& entries, size_t size, const std::string& name) {
  std::vector<std::pair<const Entry*, const std::string*>> order;
  for (const auto& [key, entry] : entries) order.emplace_back(&entry, &key);
  std::sort(order.begin(), order.end(), [](auto& a, auto& b) { return a.first->offsets < b.first->offsets; });
  int64_t end = 0;
  for (const auto& [entry, key] : order) {
    if (entry->offsets[0] != end)
      input_error("{}: {}: data_offsets: expected to begin at {}, found {}: tensors {}", name, excerpt(*key), end,
                  entry->offsets[0], entry->offsets[0] < end ? "overlap" : "leave a gap");
    end = entry->offsets[1];
  }
  if (static_cast<uint64_t>(end) != size)
    input_error("{}: data: expected {} bytes, as the header says, found {}", name, end, size);
}

}  // namespace

bool looks_like_safetensors(std::string_view bytes) { return bytes.size() > 8 && bytes[8] == '{'; }

Safetensors open_safetensors(std::span<const char> bytes, const std::string& name) {
  Cursor in({bytes.data(), bytes.size()}, name);
  const auto length = in.number(8);
  if (length > largest_safetensors_header)
    input_error("{}: header length: expected at most {} bytes, found {}", name, largest_safetensors_header, length);
  if (length > in.left())
    input_error("{}: header: the file is truncated: expected {} bytes, found {}", name, length, in.left());
  const auto header = in.take(length);
  if (!header.starts_with('{')) input_error("{}: header: expected an object of JSON", name);

  Safetensors file;
  const auto entries = read_header(header, file, name);
  for (const auto& [key, entry] : entries)
    file.tensors.emplace(key, stored(entry, in.rest(), fmt::format("{}: {}", name, excerpt(key))));
  check_tiling(entries, in.left(), name);
  return file;
}

std::string format_safetensors(const Safetensors& content) {
  // The widest elements come first, as the format's own library writes them: each then lies at a multiple of its size.
  std::vector<const StoredTensors::value_type*> order;
  for (const auto& tensor : content.tensors) order.push_back(&tensor);
  std::stable_sort(order.begin(), order.end(),
                   [](auto* a, auto* b) { return size_of(a->second.type) > size_of(b->second.type); });

  auto header = json::object();
  if (!content.metadata.empty()) header[metadata_key] = content.metadata;
  size_t end = 0;
  for (const auto* item : order) {
    const auto& [key, tensor] = *item;
    if (key == metadata_key) throw std::invalid_argument("safetensors: no tensor can be named __metadata__");
    header[key] = {
        {"dtype", name_of(tensor.type)}, {"shape", tensor.shape}, {"data_offsets", {end, end + tensor.data.size()}}};
    end += tensor.data.size();
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const json::type_error& error) {
    throw std::invalid_argument(fmt::format("safetensors: a name is not UTF-8: {}", error.what()));
  }
  text.append((8 - text.size() % 8) % 8, ' ');

  std::string bytes;
  bytes.reserve(8 + text.size() + end);
  for (size_t i = 0; i < 8; ++i) bytes += static_cast<char>(text.size() >> (8 * i));
  bytes += text;
  for (const auto* item : order) bytes += item->second.data;
  return bytes;
}

}  // namespace penumbra::io
