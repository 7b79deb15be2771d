#include "report/number.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace penumbra::report {
namespace {

constexpr double smallest_plain = 0.01, largest_plain = 1e5;

void drop_trailing_zeros(std::string& digits) {
  if (digits.find('.') == std::string::npos) return;
  digits.erase(digits.find_last_not_of('0') + 1);
  if (digits.back() == '.') digits.pop_back();
}

std::string with_power(double value, int digits) {
  const auto text = fmt::format("{:.{}e}", value, std::max(digits - 1, 0));
  const auto e = text.find('e');
  auto mantissa = text.substr(0, e);
  drop_trailing_zeros(mantissa);
  return fmt::format("{}e{}", mantissa, std::stoi(text.substr(e + 1)));
}

}  // namespace

std::string format_number(double value, int digits) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "infinite" : "-infinite";
  if (value == 0) return "0";
  const auto size = std::abs(value);
  if (size < smallest_plain || size >= largest_plain) return with_power(value, digits);
  const auto decimals = std::max(digits - 1 - static_cast<int>(std::floor(std::log10(size))), 0);
  auto text = fmt::format("{:.{}f}", value, decimals);
  drop_trailing_zeros(text);
  return text;
}

std::vector<std::string> format_ticks(const std::vector<double>& ticks) {
  double largest = 0, step = 0;
  for (const auto tick : ticks) largest = std::max(largest, std::abs(tick));
  for (size_t i = 1; i < ticks.size(); ++i) {
    const auto gap = std::abs(ticks[i] - ticks[i - 1]);
    step = step == 0 ? gap : std::min(step, gap);
  }
  const bool plain = largest >= smallest_plain && largest < largest_plain && step > 0;
  // The slack keeps a step of 0.1, which is not a binary number, from asking for two decimals.
  const auto decimals = plain ? std::max(static_cast<int>(std::ceil(-std::log10(step) - 1e-9)), 0) : 0;
  std::vector<std::string> texts;
  for (const auto tick : ticks)
    texts.push_back(plain && decimals <= 6 ? fmt::format("{:.{}f}", tick == 0 ? 0 : tick, decimals)
                                           : format_number(std::abs(tick) < 1e-9 * largest ? 0 : tick));
  return texts;
}

std::string format_duration(double seconds) {
  if (!std::isfinite(seconds)) return format_number(seconds);
  if (seconds < 120) return format_number(seconds) + " s";
  const auto whole = std::llround(seconds);
  if (whole < 7200) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

}  // namespace penumbra::report
