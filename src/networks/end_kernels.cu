/// The first and the last convolution of a U-Net of one channel.
#include <type_traits>

#include "core/launch.cuh"
#include "networks/feature_kernels.h"
#include "networks/matrix.cuh"
#include "networks/pixels.cuh"

namespace penumbra::cuda {
namespace {

constexpr int lines_a_block = 4, halo = 2;

/// A block takes a few lines of an image; a thread's pixels are neighbours, so that each needs three new numbers.
template <typename T>
__global__ void __launch_bounds__(pixel_threads, 2)
    first_kernel(Images p, const float* __restrict__ x, const float* weight, const float* bias, T* __restrict__ y,
                 float* sums) {
  extern __shared__ __align__(16) float shared[];
  const Place at = place(p.channels, p.height);
  // The lines with their neighbours, zeros around the image.
  const int pitch = p.width + halo;
  float* image = shared + sums_memory(p.channels, blockDim.x) / sizeof(float);
  const float* from = x + static_cast<size_t>(blockIdx.y) * p.height * p.width;
  for (int item = threadIdx.x; item < (at.last - at.first + halo) * pitch; item += blockDim.x) {
    const int row = at.first + item / pitch - 1, column = item % pitch - 1;
    const bool inside = row >= 0 && row < p.height && column >= 0 && column < p.width;
    image[item] = inside ? from[static_cast<size_t>(row) * p.width + column] : 0.f;
  }
  float w[9][lanes];
  Eight start;
#pragma unroll
  for (int i = 0; i < lanes; ++i) {
    const int channel = at.column * lanes + i;
    start.at[i] = bias[channel];
#pragma unroll
    for (int tap = 0; tap < 9; ++tap) w[tap][i] = weight[channel * 9 + tap];
  }
  __syncthreads();
  const int part = (p.width + at.rows - 1) / at.rows, begin = at.row * part, end = min(begin + part, p.width);
  Eight sum{}, square{};
  for (int line = at.first; line < at.last; ++line) {
    const float* above = image + (line - at.first) * pitch;
    float left[3], middle[3], right[3];
#pragma unroll
    for (int dy = 0; dy < 3; ++dy) {
      left[dy] = begin < end ? above[dy * pitch + begin] : 0.f;
      middle[dy] = begin < end ? above[dy * pitch + begin + 1] : 0.f;
    }
    T* to = y + (static_cast<size_t>(blockIdx.y) * p.height + line) * p.width * p.channels + at.column * lanes;
    for (int column = begin; column < end; ++column) {
      Eight v = start;
#pragma unroll
      for (int dy = 0; dy < 3; ++dy) {
        right[dy] = above[dy * pitch + column + 2];
#pragma unroll
        for (int i = 0; i < lanes; ++i)
          v.at[i] += w[3 * dy][i] * left[dy] + w[3 * dy + 1][i] * middle[dy] + w[3 * dy + 2][i] * right[dy];
        left[dy] = middle[dy];
        middle[dy] = right[dy];
      }
      store(to + static_cast<size_t>(column) * p.channels, v);
      accumulate(v, sum, square);
    }
  }
  write_sums(at, p.channels, sum, square, shared, sums);
}

/// Each pixel's nine products with the taps, on the matrix units: a warp takes 16 pixels at a time. An activation is
/// the sum of two short numbers, of which 16 bits or more count. Channels may be summed in any order: a thread takes
/// eight neighbouring ones of 32, and the taps are laid out alike.
template <typename T>
__global__ void __launch_bounds__(pixel_threads) product_kernel(Images p, const T* __restrict__ x, const float* map,
                                                                const float* weight, float* __restrict__ products) {
  extern __shared__ __align__(16) float shared[];
  const T* type = nullptr;
  const int channels = p.channels, pixels = p.height * p.width, n = blockIdx.y;
  float *gain = shared, *offset = shared + channels;
  auto* taps = reinterpret_cast<uint2*>(shared + 2 * channels);  // [channels / 16][2][32]
  for (int c = threadIdx.x; c < channels; c += blockDim.x) {
    const float2 cell = reinterpret_cast<const float2*>(map)[static_cast<size_t>(n) * channels + c];
    gain[c] = cell.x;
    offset[c] = cell.y;
  }
  for (int item = threadIdx.x; item < channels / 16 * 64; item += blockDim.x) {
    const int lane = item % 32, tile = item / 32 % 2, step = item / 64;
    const int tap = 8 * tile + lane / 4, channel = step / 2 * 32 + lane % 4 * lanes + step % 2 * 4;
    const auto w = [&](int i) { return tap < 9 ? weight[(channel + i) * 9 + tap] : 0.f; };
    taps[item] = {packed({w(0), w(1)}, type), packed({w(2), w(3)}, type)};
  }
  __syncthreads();
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  const int row = lane / 4, column = lane % 4;
  const T* image = x + static_cast<size_t>(n) * pixels * channels + column * lanes;
  float* out = products + static_cast<size_t>(n) * pixels * 9;
  for (int first = (blockIdx.x * warps + warp) * 16; first < pixels; first += gridDim.x * warps * 16) {
    // Behind the last pixel the last one is read, and not written.
    const T* upper = image + static_cast<size_t>(min(first + row, pixels - 1)) * channels;
    const T* lower = image + static_cast<size_t>(min(first + row + 8, pixels - 1)) * channels;
    float sum[2][4] = {};
#pragma unroll 4
    for (int channel = 0; channel < channels; channel += 32) {
      const Raw<T> raw[] = {load_raw(upper + channel), load_raw(lower + channel)};
      const Map f{load(gain + channel + column * lanes), load(offset + channel + column * lanes)};
      const Eight v[] = {f.template apply<true>(widen(raw[0])), f.template apply<true>(widen(raw[1]))};
      unsigned large[2][4], rest[2][4];
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        const Eight& own = v[i / 4];
        const float2 two{own.at[i % 4 * 2], own.at[i % 4 * 2 + 1]};
        const unsigned word = packed(two, type);
        const float2 near = unpacked(word, type);
        large[i / 4][i % 4] = word;
        rest[i / 4][i % 4] = packed({two.x - near.x, two.y - near.y}, type);
      }
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const auto operand = [&](const unsigned(&words)[2][4]) -> Fragment {
          return {{words[0][2 * half], words[1][2 * half], words[0][2 * half + 1], words[1][2 * half + 1]}};
        };
        const Fragment a = operand(large), b = operand(rest);
#pragma unroll
        for (int tile = 0; tile < 2; ++tile) {
          const uint2 w = taps[((channel / 16 + half) * 2 + tile) * 32 + lane];
          multiply_add(sum[tile], a, w, type);
          multiply_add(sum[tile], b, w, type);
        }
      }
    }
#pragma unroll
    for (int tile = 0; tile < 2; ++tile)
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int pixel = first + row + i / 2 * 8, tap = 8 * tile + 2 * column + i % 2;
        if (pixel < pixels && tap < 9) out[static_cast<size_t>(tap) * pixels + pixel] = sum[tile][i];
      }
  }
}

__global__ void gather_kernel(Images p, const float* __restrict__ products, const float* bias, float* __restrict__ y) {
  const int pixels = p.height * p.width, pixel = blockIdx.x * blockDim.x + threadIdx.x;
  if (pixel >= pixels) return;
  const float* image = products + static_cast<size_t>(blockIdx.y) * pixels * 9;
  float sum = *bias;
#pragma unroll
  for (int tap = 0; tap < 9; ++tap) {
    const int row = pixel / p.width + tap / 3 - 1, column = pixel % p.width + tap % 3 - 1;
    if (row >= 0 && row < p.height && column >= 0 && column < p.width)
      sum += image[static_cast<size_t>(tap) * pixels + row * p.width + column];
  }
  y[static_cast<size_t>(blockIdx.y) * pixels + pixel] = sum;
}

size_t lines_memory(const Images& p) { return sizeof(float) * (lines_a_block + halo) * (p.width + halo); }

}  // namespace

bool first_convolution_knows(int channels, int width) {
  constexpr size_t most = 48 << 10;  // of shared memory, where nothing is said
  return sums_memory(channels) + lines_memory({1, 1, width, channels, Element::float32}) <= most;
}

int first_chunks(const Images& p) { return (p.height + lines_a_block - 1) / lines_a_block; }

const char* first_convolution(const Images& p, const float* x, const float* weight, const float* bias, void* y,
                              float* sums, CUstream_st* stream) {
  const size_t memory = sums_memory(p.channels) + lines_memory(p);
  of_type(p.element, [&](auto* t) {
    first_kernel<<<dim3(first_chunks(p), p.n), threads_of(p.channels), memory, stream>>>(p, x, weight, bias,
                                                                                         typed(y, t), sums);
  });
  return last_error();
}

bool last_convolution_knows(int channels, Element element) {
  return channels % 32 == 0 && channels <= 512 && element != Element::float32;
}

const char* last_convolution(const Images& p, const void* x, const float* map, const float* weight, const float* bias,
                             float* products, float* y, CUstream_st* stream) {
  const int pixels = p.height * p.width, a_block = 16 * pixel_threads / 32;
  const int tiles = (pixels + a_block - 1) / a_block, wanted = (enough_blocks + p.n - 1) / p.n;
  const size_t memory = sizeof(float) * (2 + 8) * p.channels;
  of_short_type(p.element, [&](auto* t) {
    product_kernel<<<dim3(tiles < wanted ? tiles : wanted, p.n), pixel_threads, memory, stream>>>(p, typed(x, t), map,
                                                                                                  weight, products);
  });
  gather_kernel<<<dim3((pixels + pixel_threads - 1) / pixel_threads, p.n), pixel_threads, 0, stream>>>(p, products,
                                                                                                       bias, y);
  return last_error();
}

}  // namespace penumbra::cuda
