/// Vector code for CPUs by the compiler alone: the pieces that our own loops over pixels share.
#pragma once

#include <bit>
#include <cstdint>

// One version of a function for each generation of vector units; the machine's own is chosen when the program starts.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define PENUMBRA_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define PENUMBRA_CLONES
#endif
// Into every clone.
#define PENUMBRA_INLINE inline __attribute__((always_inline))

namespace penumbra {

/// bfloat16 is the upper half of a float32; uint16_t holds it.
PENUMBRA_INLINE float widen(float x) { return x; }
PENUMBRA_INLINE float widen(uint16_t x) { return std::bit_cast<float>(static_cast<uint32_t>(x) << 16); }

PENUMBRA_INLINE void shorten(float x, float& out) { out = x; }
/// To the nearest, halves to even.
PENUMBRA_INLINE void shorten(float x, uint16_t& out) {
  const auto bits = std::bit_cast<uint32_t>(x);
  out = static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

}  // namespace penumbra
