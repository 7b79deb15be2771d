/// How kernels share out the pixels of channels-last images: a block of threads takes a chunk of one image's pixels and
/// all its channels, eight channels a thread, so that every access is 16 bytes wide and neighbouring threads are
/// neighbours in memory.
#pragma once

#include "networks/vector.cuh"

namespace penumbra::cuda {

constexpr int pixel_threads = 256;

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

/// Pixels that a block takes at a time.
inline int rows_of(int channels) { return channels / lanes >= pixel_threads ? 1 : pixel_threads / (channels / lanes); }

/// Adds the threads' two sums of each channel over the block's rows; the result is in shared[0 .. 2 channels).
__device__ inline void sum_rows(const Place& at, const Eight& a, const Eight& b, float* shared) {
  for (int row = 0; row < at.rows; ++row) {
    if (at.row == row) {
#pragma unroll
      for (int i = 0; i < lanes; ++i) {
        float* cell = shared + 2 * (at.column * lanes + i);
        cell[0] = row == 0 ? a.at[i] : cell[0] + a.at[i];
        cell[1] = row == 0 ? b.at[i] : cell[1] + b.at[i];
      }
    }
    __syncthreads();
  }
}

__device__ inline float sigmoid(float z) { return 1 / (1 + __expf(-z)); }

}  // namespace penumbra::cuda
