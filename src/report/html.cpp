#include "report/html.h"

#include <fmt/format.h>

#include <cctype>
#include <cstdint>

namespace penumbra::report {

std::string escape(std::string_view text) {
  std::string safe;
  safe.reserve(text.size());
  for (const char c : text) switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      case '\'':
        safe += "&#39;";
        break;
      case '\n':
      case '\t':
        safe += c;
        break;
      // Other control characters are parse errors in HTML: show that something was there.
      default:
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
          safe += "&#xFFFD;";
        else
          safe += c;
    }
  return safe;
}

std::string data_url(std::string_view bytes, std::string_view media_type) {
  static constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  auto url = fmt::format("data:{};base64,", media_type);
  url.reserve(url.size() + 4 * (bytes.size() / 3 + 1));
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const auto left = bytes.size() - i;
    const auto at = [&](size_t k) -> uint32_t { return k < left ? static_cast<unsigned char>(bytes[i + k]) : 0u; };
    const auto word = at(0) << 16 | at(1) << 8 | at(2);
    url += digits[word >> 18];
    url += digits[word >> 12 & 63];
    url += left > 1 ? digits[word >> 6 & 63] : '=';
    url += left > 2 ? digits[word & 63] : '=';
  }
  return url;
}

std::string slug(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) || c == '_';
    if (plain) name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (!plain && !name.empty() && name.back() != '-') name += '-';
  }
  while (!name.empty() && name.back() == '-') name.pop_back();
  return name.empty() ? "figure" : name;
}

}  // namespace penumbra::report
