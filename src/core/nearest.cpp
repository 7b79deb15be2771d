#include "core/nearest.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace penumbra {
namespace {

// Longer than any name of ours: a distance to it would cost time and suggest nothing.
constexpr size_t longest_word = 64;

/// Edits (insert, delete, replace one letter) between two words: Levenshtein's distance, row by row.
size_t distance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    auto diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const auto replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string suggestion(const std::string& word, const std::vector<std::string>& words) {
  if (word.size() > longest_word) return {};
  // A third of the letters wrong still reads as a typing error; more reads as another word.
  auto closest = std::max<size_t>(2, word.size() / 3) + 1;
  const std::string* best = nullptr;
  for (const auto& candidate : words) {
    const auto edits = distance(word, candidate);
    if (edits >= closest || edits >= candidate.size()) continue;
    closest = edits;
    best = &candidate;
  }
  return best ? fmt::format("; did you mean {}?", *best) : std::string{};
}

namespace {

std::string printable(const std::string& text, size_t most) {
  std::string shown;
  for (const char c : text) {
    if (shown.size() >= most) return shown + "...";
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f)
      shown += fmt::format("\\x{:02x}", byte);
    else
      shown += c;
  }
  return shown;
}

}  // namespace

std::string excerpt(const std::string& text) { return printable(text, longest_word); }

std::string shown_path(const std::string& path) { return printable(path, 4096); }

}  // namespace penumbra
