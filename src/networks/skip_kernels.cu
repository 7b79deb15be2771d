/// The end of a residual block whose input has other channels than its result: the input's channels are mixed by a
/// matrix and added where the block's last convolution has written, with one rounding and in one pass.
#include <type_traits>

#include "core/launch.cuh"
#include "networks/feature_kernels.h"
#include "networks/matrix.cuh"
#include "networks/pixels.cuh"

namespace penumbra::cuda {
namespace {

constexpr int side = 128;                                   // pixels, and channels of the result, of a block
constexpr int depth = 32;                                   // channels of the input at a time
constexpr int stages = 3;                                   // that are on their way or in use
constexpr int chunks = depth / lanes;                       // of 16 bytes, of a row
constexpr int tile_size = side * chunks;                    // 16 bytes each
constexpr int half_side = side / 2, pitch = half_side + 4;  // floats of a row of the sums, for half of the channels
constexpr int warp_rows = 32, warp_columns = 64;            // of the block's product
constexpr int columns = half_side / lanes;                  // threads side by side where the result is written
constexpr int block_rows = pixel_threads / columns;
constexpr size_t memory = sizeof(uint4) * stages * 2 * tile_size;
static_assert(memory <= 48 << 10 && sizeof(float) * (side * pitch + 2 * half_side * pixel_threads / 32) <= memory);

template <typename T>
struct Part {
  const T* x;
  int channels;
};

/// Where chunk `chunk` of row `row` lies: the same chunk of eight rows is in eight different places of the banks.
__device__ int place_of(int row, int chunk) { return row * chunks + (chunk ^ (row / 2 % chunks)); }

/// Asks for slice `slice` of the pixels' channels and of the matrix.
template <typename T>
__device__ void fetch(const Images& p, const Part<T>& first, const Part<T>& second, const T* weight, int slice,
                      uint4* pool) {
  const int inputs = first.channels + second.channels, pixels = p.height * p.width, channel = slice * depth;
  if (channel < inputs) {
    uint4* pixel_tile = pool + slice % stages * (2 * tile_size);
    uint4* matrix_tile = pixel_tile + tile_size;
    const bool in_first = channel < first.channels;
    const T* x = in_first ? first.x + channel : second.x + (channel - first.channels);
    const int step = in_first ? first.channels : second.channels;
#pragma unroll
    for (int item = threadIdx.x; item < tile_size; item += pixel_threads) {
      const int row = item / chunks, chunk = item % chunks;
      const int pixel = blockIdx.x * side + row, out = blockIdx.z * side + row;
      const size_t from = static_cast<size_t>(blockIdx.y) * pixels + min(pixel, pixels - 1);
      copy_ahead(pixel_tile + place_of(row, chunk), x + from * step + chunk * lanes, pixel < pixels);
      copy_ahead(matrix_tile + place_of(row, chunk),
                 weight + static_cast<size_t>(min(out, p.channels - 1)) * inputs + channel + chunk * lanes,
                 out < p.channels);
    }
  }
  end_of_copies();
}

/// The warp's 32 pixels by 64 channels of the block's product, from one slice.
template <typename T>
__device__ void multiply(const uint4* pixel_tile, float (&sums)[2][8][4]) {
  const T* type = nullptr;
  const uint4* matrix_tile = pixel_tile + tile_size;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int first_row = warp % 4 * warp_rows, first_column = warp / 4 * warp_columns;
#pragma unroll
  for (int chunk = 0; chunk < chunks; chunk += 2) {
    Fragment a[2];
#pragma unroll
    for (int i = 0; i < 2; ++i)
      a[i] = load_matrices(pixel_tile + place_of(first_row + 16 * i + lane % 16, chunk + lane / 16));
#pragma unroll
    for (int j = 0; j < 8; j += 2) {
      const Fragment b =
          load_matrices(matrix_tile + place_of(first_column + 8 * j + lane / 16 * 8 + lane % 8, chunk + lane / 8 % 2));
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        multiply_add(sums[i][j], a[i], {b.at[0], b.at[1]}, type);
        multiply_add(sums[i][j + 1], a[i], {b.at[2], b.at[3]}, type);
      }
    }
  }
}

/// Adds half of the product's channels, which `stage` holds, to what is there, and sums the result's channels.
template <typename T>
__device__ void add_half(const Images& p, int half, const T* bias, T* b, const float* stage, float* scratch,
                         float* sums) {
  constexpr int many = side / block_rows;
  const int pixels = p.height * p.width, column = threadIdx.x % columns, row = threadIdx.x / columns;
  const int channel = blockIdx.z * side + half * half_side + column * lanes;
  const bool wanted = channel < p.channels;
  Eight sum{}, square{};
  if (wanted) {
    const Eight added = bias != nullptr ? load(bias + channel) : Eight{};
    const int first = blockIdx.x * side + row;
    T* to = b + (static_cast<size_t>(blockIdx.y) * pixels + first) * p.channels + channel;
    const size_t step = static_cast<size_t>(block_rows) * p.channels;
    Raw<T> before[many];
#pragma unroll
    for (int i = 0; i < many; ++i)
      if (first + i * block_rows < pixels) before[i] = load_raw(to + i * step);
#pragma unroll
    for (int i = 0; i < many; ++i) {
      if (first + i * block_rows >= pixels) break;
      const Eight v = widen(before[i]) + added + load(stage + (row + i * block_rows) * pitch + column * lanes);
      store(to + i * step, v);
      accumulate(v, sum, square);
    }
  }
  // Four threads of a warp have the same channels.
#pragma unroll
  for (int i = 0; i < lanes; ++i)
#pragma unroll
    for (int offset = columns; offset < 32; offset *= 2) {
      sum.at[i] += __shfl_xor_sync(0xffffffffu, sum.at[i], offset);
      square.at[i] += __shfl_xor_sync(0xffffffffu, square.at[i], offset);
    }
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (lane < columns) {
#pragma unroll
    for (int i = 0; i < lanes; ++i) {
      float* cell = scratch + warp * 2 * half_side + 2 * (lane * lanes + i);
      cell[0] = sum.at[i];
      cell[1] = square.at[i];
    }
  }
  __syncthreads();
  const int first_channel = blockIdx.z * side + half * half_side;
  float* out = sums + ((static_cast<size_t>(blockIdx.y) * gridDim.x + blockIdx.x) * p.channels + first_channel) * 2;
  for (int cell = threadIdx.x; cell < 2 * half_side; cell += blockDim.x) {
    float total = 0;
#pragma unroll
    for (int w = 0; w < pixel_threads / 32; ++w) total += scratch[w * 2 * half_side + cell];
    if (first_channel + cell / 2 < p.channels) out[cell] = total;
  }
}

template <typename T>
__global__ void __launch_bounds__(pixel_threads, 2)
    skip_kernel(Images p, Part<T> first, Part<T> second, const T* __restrict__ weight, const T* bias, T* b,
                float* sums) {
  extern __shared__ __align__(16) uint4 pool[];
  const int slices = (first.channels + second.channels) / depth;
#pragma unroll
  for (int slice = 0; slice < stages - 1; ++slice) fetch(p, first, second, weight, slice, pool);
  float products[2][8][4] = {};
  for (int slice = 0; slice < slices; ++slice) {
    wait_for_copies<stages - 2>();
    // Everyone's copies have come, and nobody reads any more what the next ones overwrite.
    __syncthreads();
    fetch(p, first, second, weight, slice + stages - 1, pool);
    multiply<T>(pool + slice % stages * (2 * tile_size), products);
  }
  wait_for_copies<0>();
  auto* stage = reinterpret_cast<float*>(pool);
  float* scratch = stage + side * pitch;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int half = 0; half < 2; ++half) {
    __syncthreads();
    if (warp / 4 == half)
#pragma unroll
      for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < 8; ++j) {
          float* cell = stage + (warp % 4 * warp_rows + 16 * i + lane / 4) * pitch + 8 * j + lane % 4 * 2;
          *reinterpret_cast<float2*>(cell) = {products[i][j][0], products[i][j][1]};
          *reinterpret_cast<float2*>(cell + 8 * pitch) = {products[i][j][2], products[i][j][3]};
        }
    __syncthreads();
    if (blockIdx.z * side + half * half_side >= p.channels) break;
    add_half(p, half, bias, b, stage, scratch, sums);
  }
}

}  // namespace

bool skip_knows(int first_channels, int second_channels, Element element) {
  return first_channels % depth == 0 && second_channels % depth == 0 && element != Element::float32;
}

int skip_chunks(const Images& p) { return (p.height * p.width + side - 1) / side; }

const char* add_skip(const Images& p, const ImagePart& first, const ImagePart& second, const void* weight,
                     const void* bias, void* b, float* sums, CUstream_st* stream) {
  of_short_type(p.element, [&](auto* t) {
    using T = std::remove_pointer_t<decltype(t)>;
    const dim3 grid(skip_chunks(p), p.n, (p.channels + side - 1) / side);
    const Part<T> one{typed(first.x, t), first.channels}, other{typed(second.x, t), second.channels};
    skip_kernel<T>
        <<<grid, pixel_threads, memory, stream>>>(p, one, other, typed(weight, t), typed(bias, t), typed(b, t), sums);
  });
  return last_error();
}

}  // namespace penumbra::cuda
