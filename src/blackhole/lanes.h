/// Four numbers side by side in one vector register, and the functions of them that light along rays needs.
///
/// Single precision, for pictures: relative errors are about 1e-6, of the angle 1e-5 radian.
#pragma once

#include <cmath>
#include <cstdint>

namespace penumbra::blackhole {

constexpr int lane_count = 4;
using Lanes = float __attribute__((vector_size(4 * lane_count)));
/// Integers, and answers of comparisons: all bits of a lane set, or none.
using LaneBits = int32_t __attribute__((vector_size(4 * lane_count)));

inline Lanes all_lanes(double value) { return Lanes{} + static_cast<float>(value); }
inline LaneBits bits_of(Lanes x) { return reinterpret_cast<LaneBits>(x); }
inline Lanes from_bits(LaneBits bits) { return reinterpret_cast<Lanes>(bits); }
inline Lanes smaller(Lanes x, Lanes y) { return x < y ? x : y; }
inline Lanes larger(Lanes x, Lanes y) { return x > y ? x : y; }
inline Lanes magnitude(Lanes x) { return from_bits(bits_of(x) & 0x7fffffff); }

inline bool any(LaneBits answers) {
  int32_t found = 0;
  for (int i = 0; i < lane_count; ++i) found |= answers[i];
  return found != 0;
}

inline double root(double x) { return std::sqrt(x); }
inline Lanes root(Lanes x) {
  for (int i = 0; i < lane_count; ++i) x[i] = std::sqrt(x[i]);
  return x;
}

/// ln x for normal x > 0: x = 2^e m with m in [2/3, 4/3), ln m = 2 artanh((m - 1) / (m + 1)), whose series ends at
/// 1e-7.
inline Lanes logarithm(Lanes x) {
  constexpr int32_t two_thirds = 0x3f2aaaab;
  const LaneBits exponent = (bits_of(x) - two_thirds) >> 23;
  const Lanes m = from_bits(bits_of(x) - (exponent << 23));
  const Lanes t = (m - 1) / (m + 1), t2 = t * t;
  const Lanes series = 1 + t2 * (1.0F / 3 + t2 * (1.0F / 5 + t2 * (1.0F / 7)));
  return __builtin_convertvector(exponent, Lanes) * 0.69314718F + 2 * t * series;
}

/// e^x for x from -87 to 87, what is below counting as -87: 2^n e^f with |f| <= ln 2 / 2, whose Taylor series ends at
/// 1e-7.
inline Lanes exponential(Lanes x) {
  x = larger(x, all_lanes(-87));
  // Adding 1.5 x 2^23 rounds to an integer.
  const Lanes n = (x * 1.44269504F + 12582912.0F) - 12582912.0F, f = x - n * 0.69314718F;
  const Lanes series =
      1 + f * (1 + f * (1.0F / 2 + f * (1.0F / 6 + f * (1.0F / 24 + f * (1.0F / 120 + f * (1.0F / 720))))));
  return series * from_bits((__builtin_convertvector(n, LaneBits) + 127) << 23);
}

/// The angle of (x, y), not both 0, in (-pi, pi]: Abramowitz & Stegun 4.4.49 on the octant.
inline Lanes angle_of(Lanes y, Lanes x) {
  const Lanes across = magnitude(x), up = magnitude(y);
  const Lanes t = smaller(across, up) / (larger(across, up) + 1e-30F), t2 = t * t;
  const Lanes octant = t * (0.9998660F + t2 * (-0.3302995F + t2 * (0.1801410F + t2 * (-0.0851330F + t2 * 0.0208351F))));
  const Lanes quadrant = up > across ? 1.57079633F - octant : octant;
  const Lanes half = x < 0 ? 3.14159265F - quadrant : quadrant;
  return y < 0 ? -half : half;
}

}  // namespace penumbra::blackhole
