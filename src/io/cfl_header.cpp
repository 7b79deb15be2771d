#include "io/cfl_header.h"

#include <fmt/ranges.h>

#include <array>
#include <charconv>

#include "core/error.h"
#include "core/nearest.h"

namespace penumbra::io {
namespace {

constexpr int64_t bytes_per_number = 8;  // two float32
constexpr size_t largest_cfl_header = 1 << 20;
constexpr std::string_view spaces = " \t\r";

constexpr std::array<std::string_view, cfl_dimensions> names{"READ",  "PHS1",   "PHS2", "COIL",   "MAPS", "TE",
                                                             "COEFF", "COEFF2", "ITER", "CSHIFT", "TIME", "TIME2",
                                                             "LEVEL", "SLICE",  "AVG",  "BATCH"};

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(spaces);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(spaces) - first + 1);
}

/// Takes the first line off the text.
std::string_view next_line(std::string_view& text) {
  const auto end = text.find('\n');
  const auto line = text.substr(0, end);
  text.remove_prefix(end == text.npos ? text.size() : end + 1);
  return trimmed(line);
}

/// The line below "# Dimensions"; newer headers have other sections too, in any order.
std::string_view dimensions_line(std::string_view text, const std::string& name) {
  if (text.size() > largest_cfl_header)
    input_error("{}: expected a header of at most {} bytes, found {}", name, largest_cfl_header, text.size());
  while (!text.empty())
    if (next_line(text) == "# Dimensions") return next_line(text);
  input_error("{}: expected a BART header with a line \"# Dimensions\", found none", name);
}

int64_t parse_size(std::string_view word, const std::string& name) {
  int64_t size = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), size);
  if (error != std::errc{} || end != word.data() + word.size() || size < 1)
    input_error("{}: dimensions: expected whole numbers above 0, found \"{}\"", name, excerpt(std::string(word)));
  return size;
}

}  // namespace

std::string_view name_of(CflDimension dimension) { return names.at(dimension); }

std::vector<int64_t> parse_cfl_header(std::string_view text, const std::string& name) {
  auto line = dimensions_line(text, name);
  std::vector<int64_t> sizes;
  int64_t bytes = bytes_per_number;
  while (!(line = trimmed(line)).empty()) {
    const auto word = line.substr(0, line.find_first_of(spaces));
    line.remove_prefix(word.size());
    if (sizes.size() == cfl_dimensions)
      input_error("{}: dimensions: expected at most {} numbers, found more", name, size_t{cfl_dimensions});
    sizes.push_back(parse_size(word, name));
    if (__builtin_mul_overflow(bytes, sizes.back(), &bytes))
      input_error("{}: dimensions: {} is too large", name, fmt::join(sizes, " "));
  }
  if (sizes.empty()) input_error("{}: dimensions: expected up to {} numbers, found none", name, size_t{cfl_dimensions});
  sizes.resize(cfl_dimensions, 1);
  return sizes;
}

std::string format_cfl_header(const std::vector<int64_t>& sizes) {
  return fmt::format("# Dimensions\n{}\n", fmt::join(sizes, " "));
}

void check_cfl_size(const std::vector<int64_t>& sizes, uint64_t bytes, const std::string& name) {
  uint64_t expected = bytes_per_number;
  for (const auto size : sizes) expected *= static_cast<uint64_t>(size);
  if (bytes != expected)
    input_error("{}: expected {} bytes for the dimensions {} of its header, found {}{}", name, expected,
                fmt::join(sizes, " "), bytes, bytes < expected ? " (the file is truncated)" : "");
}

}  // namespace penumbra::io
