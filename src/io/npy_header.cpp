#include "io/npy_header.h"

#include <charconv>
#include <cstdint>
#include <set>

#include "core/error.h"
#include "core/nearest.h"

namespace penumbra::io {
namespace {

constexpr size_t most_npy_dimensions = 32;

/// Reads the literal from left to right; knows strings, True, False and tuples of whole numbers.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  [[noreturn]] void fail(const std::string& field, const std::string& expected) const {
    const auto rest = text_.empty() ? "the end" : excerpt(std::string(text_.substr(0, 24)));
    input_error("{}: {}: expected {}, found {}", name_, field, expected, rest);
  }

  bool accept(std::string_view token) {
    skip_space();
    if (!text_.starts_with(token)) return false;
    text_.remove_prefix(token.size());
    return true;
  }

  void expect(std::string_view token, const std::string& field) {
    if (!accept(token)) fail(field, fmt::format("'{}'", token));
  }

  std::string string(const std::string& field, const std::string& expected) {
    skip_space();
    if (text_.empty() || (text_[0] != '\'' && text_[0] != '"')) fail(field, expected);
    const auto end = text_.find(text_[0], 1);
    if (end == text_.npos) fail(field, expected);
    const auto inner = text_.substr(1, end - 1);
    text_.remove_prefix(end + 1);
    return std::string(inner);
  }

  bool boolean(const std::string& field) {
    if (accept("True")) return true;
    if (!accept("False")) fail(field, "True or False");
    return false;
  }

  std::vector<int64_t> tuple(const std::string& field) {
    std::vector<int64_t> extents;
    expect("(", field);
    while (!accept(")")) {
      if (extents.size() == most_npy_dimensions) fail(field, fmt::format("at most {} dimensions", most_npy_dimensions));
      extents.push_back(extent(field));
      if (accept(",")) continue;
      expect(")", field);
      break;
    }
    return extents;
  }

  void end() {
    skip_space();
    if (!text_.empty()) fail("header", "its end after '}'");
  }

 private:
  void skip_space() {
    while (!text_.empty() && (text_[0] == ' ' || text_[0] == '\n' || text_[0] == '\t' || text_[0] == '\r'))
      text_.remove_prefix(1);
  }

  int64_t extent(const std::string& field) {
    skip_space();
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    if (error != std::errc{} || value < 0) fail(field, "a whole number from 0 to 2^63 - 1");
    text_.remove_prefix(end - text_.data());
    if (text_.starts_with('L')) text_.remove_prefix(1);  // Python 2 wrote long integers so
    return value;
  }

  std::string_view text_;
  const std::string& name_;
};

bool is_supported(char kind, int64_t size) {
  switch (kind) {
    case 'b':
      return size == 1;
    case 'i':
    case 'u':
      return size == 1 || size == 2 || size == 4 || size == 8;
    case 'f':
      return size == 2 || size == 4 || size == 8;
    case 'c':
      return size == 8 || size == 16;
    default:
      return false;
  }
}

void parse_descr(const std::string& descr, const std::string& name, NpyHeader& header) {
  const auto refuse = [&](const char* reason) {
    input_error("{}: descr: expected a number type such as '<f4' (b1, i1-i8, u1-u8, f2-f8, c8, c16), found '{}'{}",
                name, excerpt(descr), reason);
  };
  if (descr.size() < 3 || descr.size() > 4) refuse("");
  header.byte_order = descr[0] == '>' ? '>' : '<';
  header.kind = descr[1];
  const auto [end, error] = std::from_chars(descr.data() + 2, descr.data() + descr.size(), header.item_size);
  if (error != std::errc{} || end != descr.data() + descr.size()) refuse("");
  if (!is_supported(header.kind, header.item_size)) refuse(header.kind == 'O' ? " (Python objects)" : "");
  // '|' means that the order of the bytes does not matter, which holds for single bytes only.
  if (std::string_view("<>=|").find(descr[0]) == std::string_view::npos || (descr[0] == '|' && header.item_size != 1))
    refuse(" with an unclear byte order");
}

}  // namespace

NpyHeader parse_npy_header(std::string_view text, const std::string& name) {
  NpyHeader header;
  HeaderParser cursor(text, name);
  std::set<std::string> seen;
  cursor.expect("{", "header");
  while (!cursor.accept("}")) {
    const auto key = cursor.string("header", "a quoted key");
    if (!seen.insert(key).second) input_error("{}: {}: given twice in the header", name, excerpt(key));
    cursor.expect(":", excerpt(key));
    if (key == "descr")
      parse_descr(cursor.string(key, "a number type such as '<f4' (no structured types)"), name, header);
    else if (key == "fortran_order")
      header.fortran_order = cursor.boolean(key);
    else if (key == "shape")
      header.shape = cursor.tuple(key);
    else
      input_error("{}: header: expected descr, fortran_order and shape, found the key {}", name, excerpt(key));
    if (cursor.accept(",")) continue;
    cursor.expect("}", "header");
    break;
  }
  cursor.end();
  for (const auto* field : {"descr", "fortran_order", "shape"})
    if (!seen.contains(field)) input_error("{}: {}: missing from the header", name, field);
  return header;
}

}  // namespace penumbra::io
