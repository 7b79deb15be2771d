#include "models/ratio_setting.h"

#include <fmt/format.h>

#include <cmath>

namespace penumbra {

int64_t measurement_count(Settings& settings, int64_t n, int64_t most) {
  const bool by_ratio = settings.has("ratio");
  if (by_ratio && settings.has("rows")) settings.fail("rows", "expected ratio or rows, found both");
  if (!by_ratio && settings.has("rows")) return settings.integer("rows", {1, static_cast<double>(most)});
  const double highest = static_cast<double>(most) / static_cast<double>(n);
  const double ratio = settings.number("ratio", {0, highest, true});
  // A ratio such as 0.29 is not a binary number: 0.29 * 100 must not become 28.
  const auto m = static_cast<int64_t>(std::floor(ratio * static_cast<double>(n) * (1 + 1e-12)));
  if (m < 1) settings.fail("ratio", fmt::format("{:g} of {} pixels is less than one measurement", ratio, n));
  return std::min(m, most);
}

}  // namespace penumbra
