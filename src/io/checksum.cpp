#include "io/checksum.h"

#include <fmt/format.h>

namespace penumbra::io {

uint64_t checksum(std::span<const char> bytes, uint64_t before) {
  auto hash = before;
  for (const unsigned char byte : bytes) hash = (hash ^ byte) * 0x100000001b3ULL;
  return hash;
}

std::string format_checksum(uint64_t sum) { return fmt::format("{:016x}", sum); }

}  // namespace penumbra::io
