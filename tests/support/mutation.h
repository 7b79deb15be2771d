/// Damaged copies of a file, the same ones every time.
#pragma once

#include <random>
#include <string>

namespace penumbra::test {

/// One to four bytes changed, or the end cut off: number `k` of an endless list.
inline std::string damaged(std::string bytes, unsigned k) {
  std::mt19937 random(k);
  if (k % 4 == 0) return bytes.substr(0, random() % bytes.size());
  for (unsigned i = 0, count = 1 + random() % 4; i < count; ++i) {
    auto& byte = bytes[random() % bytes.size()];
    byte = static_cast<char>(k % 4 == 1 ? byte ^ (1 << random() % 8) : random());
  }
  return bytes;
}

}  // namespace penumbra::test
