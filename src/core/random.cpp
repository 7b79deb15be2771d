#include "core/random.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <array>
#include <bit>

#include "core/cuda_random.h"

// Functions chosen at load time run before AddressSanitizer is ready, so the sanitizer build goes without.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define PENUMBRA_VECTOR_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define PENUMBRA_VECTOR_CLONES
#endif

namespace penumbra {
namespace {

// Blocks are generated in groups so that the compiler can fill vector registers.
constexpr int kGroup = 64;
using Lane = std::array<uint32_t, kGroup>;

struct Group {
  std::array<Lane, 4> words;
};

/// What all blocks of one call have in common.
struct Counter {
  uint32_t iteration, stream;
  uint64_t seed;
};

/// Which block of which chain each lane computes: short chains share a group, or most of it would be thrown away.
struct Lanes {
  Lane block, chain;
};

/// Philox 4x32-10 (Salmon et al., SC'11), kGroup blocks at once.
inline __attribute__((always_inline)) void philox(const Counter& counter, const Lanes& lanes, Group& out) {
  constexpr uint64_t multiplier_0 = 0xD2511F53, multiplier_1 = 0xCD9E8D57;
  constexpr uint32_t weyl_0 = 0x9E3779B9, weyl_1 = 0xBB67AE85;
  auto& [c0, c1, c2, c3] = out.words;
  for (int i = 0; i < kGroup; ++i) {
    c0[i] = lanes.block[i];
    c1[i] = counter.iteration;
    c2[i] = lanes.chain[i];
    c3[i] = counter.stream;
  }
  auto key_0 = static_cast<uint32_t>(counter.seed);
  auto key_1 = static_cast<uint32_t>(counter.seed >> 32);
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < kGroup; ++i) {
      const uint64_t product_0 = multiplier_0 * c0[i];
      const uint64_t product_1 = multiplier_1 * c2[i];
      c0[i] = static_cast<uint32_t>(product_1 >> 32) ^ c1[i] ^ key_0;
      c1[i] = static_cast<uint32_t>(product_1);
      c2[i] = static_cast<uint32_t>(product_0 >> 32) ^ c3[i] ^ key_1;
      c3[i] = static_cast<uint32_t>(product_0);
    }
    key_0 += weyl_0;
    key_1 += weyl_1;
  }
}

/// The middle of one of 2^32 equal cells of (0, 1).
inline double to_unit(uint32_t word) {
  // 2^52 + word by its bits: every vector unit can do this, few can convert unsigned integers.
  const double number = std::bit_cast<double>(0x4330000000000000ULL | word) - 0x1p52;
  return (number + 0.5) * 0x1p-32;
}

/// ln(u) for u in (0, 1): u = 2^e m with m in [1/sqrt 2, sqrt 2), ln m = 2 artanh((m-1)/(m+1)), series to 1e-15.
inline double log_unit(double u) {
  const auto bits = std::bit_cast<uint64_t>(u);
  // Adding the distance from sqrt(1/2) to 1 makes the exponent step at sqrt 2 instead of 2.
  const uint64_t shifted = bits + (0x3FF0000000000000ULL - 0x3FE6A09E667F3BCDULL);
  const auto exponent = static_cast<int32_t>(shifted >> 52) - 1023;
  const double m = std::bit_cast<double>((shifted & 0xFFFFFFFFFFFFFULL) + 0x3FE6A09E667F3BCDULL);
  const double t = (m - 1) / (m + 1), t2 = t * t;
  constexpr double coefficients[] = {1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13, 1.0 / 11,
                                     1.0 / 9,  1.0 / 7,  1.0 / 5,  1.0 / 3};
  double series = 0;
  for (const double coefficient : coefficients) series = series * t2 + coefficient;
  return exponent * 0.69314718055994530942 + 2 * (t + t * t2 * series);
}

/// cos and sin of 2 pi u: a whole number of quarter turns and Taylor series on the rest, |angle| <= pi/4.
inline void turn(double u, double& cosine, double& sine) {
  const auto quarter = static_cast<int32_t>(4 * u + 0.5);
  const double angle = (u - 0.25 * quarter) * 6.28318530717958647693;
  const double a2 = angle * angle;
  // (-1)^k / n!, highest order first: to 1e-16 on |angle| <= pi/4.
  constexpr double odd[] = {-1.0 / 1307674368000, 1.0 / 6227020800, -1.0 / 39916800, 1.0 / 362880,
                            -1.0 / 5040,          1.0 / 120,        -1.0 / 6,        1.0};
  constexpr double even[] = {1.0 / 20922789888000,
                             -1.0 / 87178291200,
                             1.0 / 479001600,
                             -1.0 / 3628800,
                             1.0 / 40320,
                             -1.0 / 720,
                             1.0 / 24,
                             -1.0 / 2,
                             1.0};
  double s = 0, c = 0;
  for (const double coefficient : odd) s = s * a2 + coefficient;
  for (const double coefficient : even) c = c * a2 + coefficient;
  s *= angle;
  const bool swap = quarter & 1;
  const double first = swap ? s : c, second = swap ? c : s;
  cosine = ((quarter + 1) & 2) ? -first : first;
  sine = (quarter & 2) ? -second : second;
}

/// 4 kGroup numbers from kGroup blocks: each block gives two pairs by Box and Muller.
PENUMBRA_VECTOR_CLONES void normal_group(const Counter& counter, const Lanes& lanes, double* out) {
  Group group;
  philox(counter, lanes, group);
  for (int pair = 0; pair < 2; ++pair) {
    const auto &radius_words = group.words[2 * pair], &angle_words = group.words[2 * pair + 1];
    alignas(64) double cosines[kGroup], sines[kGroup];
    for (int i = 0; i < kGroup; ++i) {
      const double radius = __builtin_sqrt(-2 * log_unit(to_unit(radius_words[i])));
      double cosine, sine;
      turn(to_unit(angle_words[i]), cosine, sine);
      cosines[i] = radius * cosine;
      sines[i] = radius * sine;
    }
    for (int i = 0; i < kGroup; ++i) {
      out[4 * i + 2 * pair] = cosines[i];
      out[4 * i + 2 * pair + 1] = sines[i];
    }
  }
}

PENUMBRA_VECTOR_CLONES void uniform_group(const Counter& counter, const Lanes& lanes, double* out) {
  Group group;
  philox(counter, lanes, group);
  for (int word = 0; word < 4; ++word)
    for (int i = 0; i < kGroup; ++i) out[4 * i + word] = to_unit(group.words[word][i]);
}

using Generator = void (*)(const Counter&, const Lanes&, double*);

template <typename Number>
void fill(Generator generate, const Cursor& at, Stream stream, int64_t chains, int64_t per_chain, Number* out) {
  const Counter counter{static_cast<uint32_t>(at.k), static_cast<uint32_t>(stream), at.seed};
  const int64_t blocks_per_chain = (per_chain + 3) / 4, blocks = chains * blocks_per_chain;
  at::parallel_for(0, (blocks + kGroup - 1) / kGroup, 16, [&](int64_t begin, int64_t end) {
    double numbers[4 * kGroup];
    Lanes lanes;
    int64_t chain = begin * kGroup / blocks_per_chain, block = begin * kGroup % blocks_per_chain;
    for (int64_t group = begin; group < end; ++group) {
      std::array<int64_t, kGroup> place, count;
      for (int i = 0; i < kGroup; ++i) {
        lanes.block[i] = static_cast<uint32_t>(block);
        lanes.chain[i] = static_cast<uint32_t>(at.first_chain + chain);
        place[i] = chain * per_chain + 4 * block;
        count[i] = chain < chains ? std::min<int64_t>(4, per_chain - 4 * block) : 0;
        if (++block == blocks_per_chain) block = 0, ++chain;
      }
      generate(counter, lanes, numbers);
      for (int i = 0; i < kGroup; ++i)
        for (int64_t word = 0; word < count[i]; ++word)
          out[place[i] + word] = static_cast<Number>(numbers[4 * i + word]);
    }
  });
}

Tensor draw(cuda::Law law, const Cursor& at, Stream stream, const Tensor& like) {
  const auto precision = like.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  if (like.is_cuda()) {
    auto there = at::empty(like.sizes(), like.options().dtype(precision).memory_format(at::MemoryFormat::Contiguous));
    if (cuda_draw(law, at, stream, there)) return there.to(like.scalar_type());
  }
  const Generator generate = law == cuda::Law::normal ? normal_group : uniform_group;
  auto out = at::empty(like.sizes(), at::TensorOptions().dtype(precision));
  const int64_t chains = like.size(0), per_chain = chains ? like.numel() / chains : 0;
  if (precision == at::kDouble)
    fill(generate, at, stream, chains, per_chain, out.data_ptr<double>());
  else
    fill(generate, at, stream, chains, per_chain, out.data_ptr<float>());
  return out.to(like.device(), like.scalar_type());
}

}  // namespace

Tensor normal(const Cursor& at, Stream stream, const Tensor& like) { return draw(cuda::Law::normal, at, stream, like); }

Tensor uniform(const Cursor& at, Stream stream, const Tensor& like) {
  return draw(cuda::Law::uniform, at, stream, like);
}

}  // namespace penumbra
