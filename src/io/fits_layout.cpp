#include "io/fits_layout.h"

#include <charconv>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/error.h"
#include "core/nearest.h"

namespace penumbra::io {
namespace {

constexpr std::string_view part_magic = "XTENSION= ";
constexpr size_t card_size = 80;
constexpr int64_t most_bytes = int64_t{1} << 40;

class Header {
 public:
  /// Reads the cards from `at` on; `end()` is where the data begin.
  Header(std::string_view bytes, size_t at, const std::string& name, int part) : name_(name), part_(part) {
    for (; at + card_size <= bytes.size(); at += card_size) {
      const auto card = bytes.substr(at, card_size);
      if (!is_legal(card.substr(0, 8)))
        input_error("{}: part {}: expected a keyword of capitals, digits, - and _ at byte {}, found {}", name, part, at,
                    excerpt(std::string(card.substr(0, 8))));
      if (card.substr(0, 8) == "END     ") {
        if (card.find_first_not_of(' ', 8) != card.npos)
          input_error("{}: part {}: END: expected nothing after it, found {}", name, part,
                      excerpt(std::string(card.substr(8))));
        end_ = (at / fits_block + 1) * fits_block;
        return;
      }
      cards_.push_back(card);
    }
    input_error("{}: part {}: expected a header with END, found none before the end of the file", name, part);
  }

  size_t end() const { return end_; }
  bool has(std::string_view keyword, char value) const {
    for (const auto card : cards_)
      if (is(card, keyword)) return text(card).starts_with(value);
    return false;
  }
  bool begins(std::string_view keyword, std::string_view value) const {
    return !cards_.empty() && is(cards_[0], keyword) && text(cards_[0]).starts_with(value);
  }

  /// The whole number at this place of the header.
  int64_t at(size_t place, std::string keyword, int64_t low, int64_t high) const {
    keyword.resize(8, ' ');
    if (place >= cards_.size() || !is(cards_[place], keyword))
      input_error("{}: part {}: expected {} as keyword {} of the header, found {}", name_, part_, keyword, place + 1,
                  place < cards_.size() ? excerpt(std::string(cards_[place].substr(0, 8))) : "its end");
    return whole(cards_[place], keyword, low, high);
  }
  /// The same wherever it is; nothing where it is missing.
  std::optional<int64_t> find(std::string keyword, int64_t low, int64_t high) const {
    keyword.resize(8, ' ');
    for (const auto card : cards_)
      if (is(card, keyword)) return whole(card, keyword, low, high);
    return std::nullopt;
  }

 private:
  /// The library is less strict, and would find keywords, END among them, where we see none.
  static bool is_legal(std::string_view keyword) {
    return without_blanks(keyword).find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") == keyword.npos;
  }
  static bool is(std::string_view card, std::string_view keyword) {
    return card.substr(0, keyword.size()) == keyword && card.substr(8, 2) == "= ";
  }
  static std::string_view without_blanks(std::string_view text) {
    return text.substr(0, text.find_last_not_of(' ') + 1);
  }
  static std::string_view text(std::string_view card) {
    const auto start = card.find_first_not_of(' ', 10);
    return start == card.npos ? std::string_view() : card.substr(start);
  }
  int64_t whole(std::string_view card, const std::string& keyword, int64_t low, int64_t high) const {
    const auto value = text(card);
    int64_t number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    const bool ended = end == value.data() + value.size() || *end == ' ' || *end == '/';
    if (error != std::errc() || !ended || number < low || number > high)
      input_error("{}: part {}: {}: expected a whole number from {} to {}, found {}", name_, part_,
                  without_blanks(keyword), low, high,
                  excerpt(std::string(without_blanks(value.substr(0, value.find('/'))))));
    return number;
  }

  const std::string& name_;
  int part_;
  std::vector<std::string_view> cards_;
  size_t end_ = 0;
};

/// Bytes of the part's data, without what fills their last block.
int64_t data_bytes(const Header& header, bool primary, const std::string& name, int part) {
  const auto bits = header.at(1, "BITPIX", -64, 64), axes = header.at(2, "NAXIS", 0, 16);
  if (bits != 8 && bits != 16 && bits != 32 && bits != 64 && bits != -32 && bits != -64)
    input_error("{}: part {}: BITPIX: expected 8, 16, 32, 64, -32 or -64, found {}", name, part, bits);
  const bool groups = primary && header.has("GROUPS  ", 'T');
  int64_t elements = axes > 0 ? 1 : 0;
  for (int64_t axis = 1; axis <= axes; ++axis) {
    const auto size = header.at(static_cast<size_t>(axis + 2), fmt::format("NAXIS{}", axis), 0, most_bytes);
    if (groups && axis == 1 && size == 0) continue;
    if (size > 0 && elements > most_bytes / size)
      input_error("{}: part {}: NAXIS{}: expected a part that fits in a file, found {}", name, part, axis, size);
    elements *= size;
  }
  int64_t extra = 0, count = 1;
  const auto after = static_cast<size_t>(axes + 3);
  if (!primary) {
    extra = header.at(after, "PCOUNT", 0, most_bytes);
    count = header.at(after + 1, "GCOUNT", 1, 1);
    if (header.begins("XTENSION", "'BINTABLE") || header.begins("XTENSION", "'TABLE"))
      header.at(after + 2, "TFIELDS", 0, 999);
  } else if (groups) {
    extra = header.find("PCOUNT", 0, 100000).value_or(0);
    count = header.find("GCOUNT", 0, most_bytes).value_or(1);
  }
  const auto each = (elements + extra) * (std::abs(bits) / 8);
  if (each > 0 && count > 8 * most_bytes / each)
    input_error("{}: part {}: GCOUNT: expected groups that fit in a file, found {}", name, part, count);
  return each * count;
}

/// Where a header counts too few data, what follows them is no part, and all parts after it would go unseen. Nothing
/// but zeros or blanks fills the last block of a tape.
void require_next_part(std::string_view rest, const std::string& name, size_t at) {
  if (rest.starts_with(part_magic) || rest.find_first_not_of(std::string_view("\0 ", 2)) == rest.npos) return;
  input_error(
      "{}: part 1: expected another part (XTENSION) or the end of the file after the data, at byte {}, found other "
      "bytes: BITPIX, NAXISn, GROUPS, PCOUNT or GCOUNT do not match the size of the data",
      name, at);
}

}  // namespace

void check_fits_layout(std::span<const char> bytes, const std::string& name) {
  const std::string_view all(bytes.data(), bytes.size());
  if (!all.starts_with(fits_magic))
    input_error("{}: expected a FITS file, which begins with \"{}\", found other bytes", name, fits_magic);
  size_t at = 0;
  // What follows the last extension, if anything, is no part: the standard allows it.
  for (int part = 1; part == 1 || (at < all.size() && all.substr(at).starts_with(part_magic)); ++part) {
    const Header header(all, at, name, part);
    if (header.has("ZIMAGE  ", 'T'))
      input_error("{}: part {}: ZIMAGE: expected an image that is not compressed (funpack unpacks it)", name, part);
    const auto needed = data_bytes(header, part == 1, name, part);
    const auto room = all.size() > header.end() ? static_cast<int64_t>(all.size() - header.end()) : 0;
    if (needed > room)
      input_error(
          "{}: part {}: expected {} bytes of data, as NAXIS, PCOUNT and GCOUNT say, found {}; the file is truncated or "
          "its header is wrong",
          name, part, needed, room);
    at = header.end() + (static_cast<size_t>(needed) + fits_block - 1) / fits_block * fits_block;
    if (part == 1 && at < all.size()) require_next_part(all.substr(at), name, at);
  }
}

}  // namespace penumbra::io
