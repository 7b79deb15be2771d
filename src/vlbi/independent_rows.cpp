#include "vlbi/independent_rows.h"

#include <algorithm>

namespace penumbra::vlbi {
namespace {

constexpr uint64_t p = (uint64_t{1} << 61) - 1;

uint64_t times(uint64_t a, uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const auto product = static_cast<Wide>(a) * b;
  // 2^61 is 1 modulo p: the upper part is added to the lower.
  const auto sum = static_cast<uint64_t>(product & p) + static_cast<uint64_t>(product >> 61);
  return sum >= p ? sum - p : sum;
}

uint64_t minus(uint64_t a, uint64_t b) { return a >= b ? a - b : a + p - b; }

/// a^(p-2), by Fermat's little theorem.
uint64_t inverse(uint64_t a) {
  uint64_t result = 1;
  for (uint64_t exponent = p - 2; exponent > 0; exponent >>= 1, a = times(a, a))
    if (exponent & 1) result = times(result, a);
  return result;
}

}  // namespace

bool IndependentRows::add(std::span<const std::pair<size_t, int>> entries) {
  std::vector<uint64_t> row(columns_, 0);
  for (const auto& [column, entry] : entries)
    row[column] = entry < 0 ? p - static_cast<uint64_t>(-entry) : static_cast<uint64_t>(entry);
  for (const auto& [pivot, values] : rows_) {
    const auto factor = row[pivot];
    if (factor == 0) continue;
    for (size_t j = pivot; j < columns_; ++j) row[j] = minus(row[j], times(factor, values[j]));
  }
  const auto first = std::find_if(row.begin(), row.end(), [](uint64_t value) { return value != 0; });
  if (first == row.end()) return false;
  const auto scale = inverse(*first);
  for (auto& value : row) value = times(value, scale);
  rows_.push_back({static_cast<size_t>(first - row.begin()), std::move(row)});
  return true;
}

}  // namespace penumbra::vlbi
