#include "vlbi/date.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>

namespace penumbra::vlbi {
namespace {

constexpr int64_t epoch = 40587;  // 1970-01-01

}  // namespace

std::string date_of(int64_t mjd) {
  const std::chrono::year_month_day day{std::chrono::sys_days{std::chrono::days{mjd - epoch}}};
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(day.year()), static_cast<unsigned>(day.month()),
                     static_cast<unsigned>(day.day()));
}

std::optional<int64_t> mjd_of(const std::string& date) {
  int year = 0;
  unsigned month = 0, day = 0;
  int used = 0;
  if (std::sscanf(date.c_str(), "%4d-%2u-%2u%n", &year, &month, &day, &used) != 3) return std::nullopt;
  const std::chrono::year_month_day read{std::chrono::year{year}, std::chrono::month{month}, std::chrono::day{day}};
  if (static_cast<size_t>(used) != date.size() || !read.ok()) return std::nullopt;
  return std::chrono::sys_days{read}.time_since_epoch().count() + epoch;
}

}  // namespace penumbra::vlbi
