/// How kernels share out the pixels of channels-last images: a block of threads takes a chunk of one image's pixels and
/// all its channels, eight channels a thread, so that every access is 16 bytes wide and neighbouring threads are
/// neighbours in memory.
#pragma once

#include "networks/feature_kernels.h"
#include "networks/vector.cuh"

namespace penumbra::cuda {

constexpr int pixel_threads = 256;
constexpr int enough_blocks = 4096;  // for a large card, some times over

/// Where a thread works: `columns` threads side by side cover a pixel's channels, `rows` pixels are taken at a time.
struct Place {
  int columns, rows, column, row, first, last;
};

__device__ inline Place place(int channels, int pixels) {
  const int columns = channels / lanes, rows = blockDim.x / columns;
  const int chunk = (pixels + gridDim.x - 1) / gridDim.x;
  const int first = blockIdx.x * chunk;
  return {columns,
          rows,
          static_cast<int>(threadIdx.x) % columns,
          static_cast<int>(threadIdx.x) / columns,
          first,
          min(first + chunk, pixels)};
}

/// Calls use(pixel, read(pixel)) for the thread's pixels. `many` are read before any is used: memory is far away.
template <int many, typename Read, typename Use>
__device__ void for_pixels(const Place& at, Read read, Use use) {
  int pixel = at.first + at.row;
  for (; pixel + (many - 1) * at.rows < at.last; pixel += many * at.rows) {
    decltype(read(pixel)) raw[many];
#pragma unroll
    for (int j = 0; j < many; ++j) raw[j] = read(pixel + j * at.rows);
#pragma unroll
    for (int j = 0; j < many; ++j) use(pixel + j * at.rows, raw[j]);
  }
  for (; pixel < at.last; pixel += at.rows) use(pixel, read(pixel));
}

/// Pixels that a block takes at a time.
inline int rows_of(int channels) { return channels / lanes >= pixel_threads ? 1 : pixel_threads / (channels / lanes); }

inline int threads_of(int channels) { return channels / lanes * rows_of(channels); }

/// Bytes of shared memory that `sum_rows` needs.
__host__ __device__ inline size_t sums_memory(int channels, int threads) {
  return sizeof(float) * 2 * (channels + lanes * threads);
}
inline size_t sums_memory(int channels) { return sums_memory(channels, threads_of(channels)); }

/// Adds the threads' two sums of each channel over the block's rows; the result is in shared[0 .. 2 channels).
__device__ inline void sum_rows(const Place& at, const Eight& a, const Eight& b, float* shared) {
  // What neighbouring threads write lies side by side, and so does what they read.
  const int cells = 2 * lanes * at.columns;
  float* mine = shared + cells + at.row * cells + at.column;
#pragma unroll
  for (int i = 0; i < lanes; ++i) {
    mine[2 * i * at.columns] = a.at[i];
    mine[(2 * i + 1) * at.columns] = b.at[i];
  }
  __syncthreads();
  for (int cell = threadIdx.x; cell < cells; cell += blockDim.x) {
    float total = 0;
    for (int row = 1; row <= at.rows; ++row) total += shared[row * cells + cell];
    const int i = cell / at.columns, column = cell % at.columns;
    shared[2 * (column * lanes + i / 2) + i % 2] = total;
  }
  __syncthreads();
}

/// Into how many shares a block cuts the chunks of `count` cells: a power of two.
__device__ inline int shares_of(int count) {
  int shares = 1;
  while (2 * shares * count <= static_cast<int>(blockDim.x)) shares *= 2;
  return shares;
}

/// Adds the shares, [shares, count], to the first of them.
__device__ inline void add_shares(float2* cells, int count, int shares) {
  for (int half = shares / 2; half > 0; half /= 2) {
    __syncthreads();
    for (int item = threadIdx.x; item < count * half; item += blockDim.x) {
      cells[item].x += cells[item + count * half].x;
      cells[item].y += cells[item + count * half].y;
    }
  }
  __syncthreads();
}

/// The sum of `cell`, `step` apart in every chunk, over a share of the chunks.
__device__ inline float2 sum_share(const float2* cell, int step, int chunks, int share, int shares) {
  float2 total{};
#pragma unroll 4
  for (int chunk = share; chunk < chunks; chunk += shares) {
    const float2 two = cell[static_cast<size_t>(chunk) * step];
    total.x += two.x;
    total.y += two.y;
  }
  return total;
}

/// The block's cell of the sums: chunk blockIdx.x of image blockIdx.y.
__device__ inline void write_sums(const Place& at, int channels, const Eight& sum, const Eight& square, float* shared,
                                  float* sums) {
  sum_rows(at, sum, square, shared);
  float* out = sums + (static_cast<size_t>(blockIdx.y) * gridDim.x + blockIdx.x) * channels * 2;
  for (int cell = threadIdx.x; cell < 2 * channels; cell += blockDim.x) out[cell] = shared[cell];
}

/// By the units' own exponential and reciprocal: exact ones would take longer than memory does. Their errors are 2^-22.
__device__ inline float sigmoid(float z) {
  float power, value;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(-1.4426950408889634f * z));
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(value) : "f"(1 + power));
  return value;
}

/// A thread's channels: y = f(gain x + offset).
struct Map {
  Eight gain, offset;

  template <bool activate>
  __device__ Eight apply(Eight v) const {
#pragma unroll
    for (int i = 0; i < lanes; ++i) {
      const float z = gain.at[i] * v.at[i] + offset.at[i];
      v.at[i] = activate ? z * sigmoid(z) : z;
    }
    return v;
  }
};

template <typename T>
const T* typed(const void* p, T*) {
  return static_cast<const T*>(p);
}
template <typename T>
T* typed(void* p, T*) {
  return static_cast<T*>(p);
}

/// Calls f with a null pointer of the images' type.
template <typename Function>
void of_short_type(Element element, Function f) {
  if (element == Element::bfloat16) f(static_cast<__nv_bfloat16*>(nullptr));
  if (element == Element::float16) f(static_cast<__half*>(nullptr));
}
template <typename Function>
void of_type(Element element, Function f) {
  of_short_type(element, f);
  if (element == Element::float32) f(static_cast<float*>(nullptr));
}

}  // namespace penumbra::cuda
