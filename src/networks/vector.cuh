/// Eight neighbouring channels at a time inside a kernel: 16 bytes of a short type, computed in float32.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

namespace penumbra::cuda {

constexpr int lanes = 8;  // channels a thread

struct Eight {
  float at[lanes];
};

/// Eight channels as they lie in memory: a thread asks for several before it computes with the first.
template <typename T>
struct Raw {
  uint4 words;
};
template <>
struct Raw<float> {
  float4 low, high;
};

/// Two numbers of the short type that `T*` names, in one word.
__device__ inline float2 unpacked(unsigned word, const __nv_bfloat16*) {
  return {__uint_as_float(word << 16), __uint_as_float(word & 0xffff0000u)};
}
__device__ inline float2 unpacked(unsigned word, const __half*) {
  const __half2_raw pair{static_cast<unsigned short>(word & 0xffffu), static_cast<unsigned short>(word >> 16)};
  return __half22float2(__half2(pair));
}
__device__ inline unsigned packed(float2 v, const __nv_bfloat16*) {
  const __nv_bfloat162_raw pair = __float22bfloat162_rn(v);
  return pair.x | static_cast<unsigned>(pair.y) << 16;
}
__device__ inline unsigned packed(float2 v, const __half*) {
  const __half2_raw pair = __float22half2_rn(v);
  return pair.x | static_cast<unsigned>(pair.y) << 16;
}

template <typename T>
__device__ Raw<T> load_raw(const T* p) {
  return {*reinterpret_cast<const uint4*>(p)};
}
template <>
__device__ inline Raw<float> load_raw(const float* p) {
  return {reinterpret_cast<const float4*>(p)[0], reinterpret_cast<const float4*>(p)[1]};
}

template <typename T>
__device__ Eight widen(const Raw<T>& raw) {
  const T* type = nullptr;
  const float2 a = unpacked(raw.words.x, type), b = unpacked(raw.words.y, type), c = unpacked(raw.words.z, type),
               d = unpacked(raw.words.w, type);
  return {{a.x, a.y, b.x, b.y, c.x, c.y, d.x, d.y}};
}
template <>
__device__ inline Eight widen(const Raw<float>& raw) {
  return {{raw.low.x, raw.low.y, raw.low.z, raw.low.w, raw.high.x, raw.high.y, raw.high.z, raw.high.w}};
}

template <typename T>
__device__ Eight load(const T* p) {
  return widen(load_raw(p));
}

template <typename T>
__device__ void store(T* p, const Eight& v) {
  const T* type = nullptr;
  *reinterpret_cast<uint4*>(p) = {packed({v.at[0], v.at[1]}, type), packed({v.at[2], v.at[3]}, type),
                                  packed({v.at[4], v.at[5]}, type), packed({v.at[6], v.at[7]}, type)};
}
template <>
__device__ inline void store(float* p, const Eight& v) {
  reinterpret_cast<float4*>(p)[0] = {v.at[0], v.at[1], v.at[2], v.at[3]};
  reinterpret_cast<float4*>(p)[1] = {v.at[4], v.at[5], v.at[6], v.at[7]};
}

__device__ inline Eight operator+(const Eight& a, const Eight& b) {
  Eight sum;
#pragma unroll
  for (int i = 0; i < lanes; ++i) sum.at[i] = a.at[i] + b.at[i];
  return sum;
}

__device__ inline Eight operator*(float factor, const Eight& a) {
  Eight product;
#pragma unroll
  for (int i = 0; i < lanes; ++i) product.at[i] = factor * a.at[i];
  return product;
}

__device__ inline void accumulate(const Eight& v, Eight& sum, Eight& square) {
#pragma unroll
  for (int i = 0; i < lanes; ++i) {
    sum.at[i] += v.at[i];
    square.at[i] += v.at[i] * v.at[i];
  }
}

}  // namespace penumbra::cuda
