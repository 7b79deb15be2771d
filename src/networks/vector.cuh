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

__device__ inline Eight load(const float* p) {
  const float4 a = reinterpret_cast<const float4*>(p)[0], b = reinterpret_cast<const float4*>(p)[1];
  return {{a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w}};
}

__device__ inline void store(float* p, const Eight& v) {
  reinterpret_cast<float4*>(p)[0] = {v.at[0], v.at[1], v.at[2], v.at[3]};
  reinterpret_cast<float4*>(p)[1] = {v.at[4], v.at[5], v.at[6], v.at[7]};
}

template <typename Pair>
struct alignas(16) Pairs {
  Pair at[lanes / 2];
};

__device__ inline float2 widen(__nv_bfloat162 p) { return __bfloat1622float2(p); }
__device__ inline float2 widen(__half2 p) { return __half22float2(p); }
__device__ inline void shorten(float2 v, __nv_bfloat162& p) { p = __float22bfloat162_rn(v); }
__device__ inline void shorten(float2 v, __half2& p) { p = __float22half2_rn(v); }

template <typename Pair>
__device__ Eight load_pairs(const void* p) {
  const auto pairs = *reinterpret_cast<const Pairs<Pair>*>(p);
  Eight v;
#pragma unroll
  for (int i = 0; i < lanes / 2; ++i) {
    const float2 two = widen(pairs.at[i]);
    v.at[2 * i] = two.x;
    v.at[2 * i + 1] = two.y;
  }
  return v;
}

template <typename Pair>
__device__ void store_pairs(void* p, const Eight& v) {
  Pairs<Pair> pairs;
#pragma unroll
  for (int i = 0; i < lanes / 2; ++i) shorten({v.at[2 * i], v.at[2 * i + 1]}, pairs.at[i]);
  *reinterpret_cast<Pairs<Pair>*>(p) = pairs;
}

__device__ inline Eight load(const __nv_bfloat16* p) { return load_pairs<__nv_bfloat162>(p); }
__device__ inline Eight load(const __half* p) { return load_pairs<__half2>(p); }
__device__ inline void store(__nv_bfloat16* p, const Eight& v) { store_pairs<__nv_bfloat162>(p, v); }
__device__ inline void store(__half* p, const Eight& v) { store_pairs<__half2>(p, v); }

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

}  // namespace penumbra::cuda
