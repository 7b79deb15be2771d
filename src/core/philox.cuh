/// The counter-based generator of core/random.h inside a kernel.
#pragma once

#include <cstdint>

namespace penumbra::cuda {

/// Philox 4x32-10, the counter as in random.cpp: {block, iteration, chain, stream}.
__device__ inline uint4 philox(uint4 c, uint64_t seed) {
  auto key_0 = static_cast<uint32_t>(seed), key_1 = static_cast<uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t product_0 = 0xD2511F53ull * c.x, product_1 = 0xCD9E8D57ull * c.z;
    c = {static_cast<uint32_t>(product_1 >> 32) ^ c.y ^ key_0, static_cast<uint32_t>(product_1),
         static_cast<uint32_t>(product_0 >> 32) ^ c.w ^ key_1, static_cast<uint32_t>(product_0)};
    key_0 += 0x9E3779B9u;
    key_1 += 0xBB67AE85u;
  }
  return c;
}

__device__ inline double to_unit(uint32_t word) { return (word + 0.5) * 0x1p-32; }

/// Box and Muller, in double precision like the CPU's: the numbers are the same, not only their law.
__device__ inline void normal_pair(uint32_t radius_word, uint32_t angle_word, double* out) {
  const double radius = sqrt(-2 * log(to_unit(radius_word)));
  double sine, cosine;
  sincospi(2 * to_unit(angle_word), &sine, &cosine);
  out[0] = radius * cosine;
  out[1] = radius * sine;
}

/// The four normal numbers of one block.
__device__ inline void normal_block(uint4 words, double* out) {
  normal_pair(words.x, words.y, out);
  normal_pair(words.z, words.w, out + 2);
}

}  // namespace penumbra::cuda
