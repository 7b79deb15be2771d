/// A short name for the content of a file: against files that were replaced by mistake, not against malice.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace penumbra::io {

/// FNV-1a, 64 bits. `before` goes on from an earlier part, so that parts give the checksum of the whole.
uint64_t checksum(std::span<const char> bytes, uint64_t before = 0xcbf29ce484222325ULL);

/// Sixteen hexadecimal digits.
std::string format_checksum(uint64_t sum);

}  // namespace penumbra::io
