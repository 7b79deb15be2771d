#include "networks/pixel_kernels.h"

#include "core/launch.cuh"
#include "networks/vector.cuh"

namespace penumbra::cuda {
namespace {

constexpr int block_threads = 256;

/// A thread's eight channels of one pixel.
struct Site {
  int64_t image;
  int y, x, column;
};

__device__ Site site(int64_t index, int columns, int width, int height) {
  const int64_t pixel = index / columns, row = pixel / width;
  return {row / height, static_cast<int>(row % height), static_cast<int>(pixel % width),
          static_cast<int>(index % columns)};
}

template <typename T, Resample resample>
__global__ void add_kernel(AddProblem p, const T* __restrict__ a, T* __restrict__ b, const T* bias) {
  const int columns = p.channels / lanes;
  const int64_t index = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (index >= static_cast<int64_t>(p.n) * p.height * p.width * columns) return;
  Eight sum = load(b + index * lanes);
  if constexpr (resample == Resample::none) {
    sum = load(a + index * lanes) + sum;
  } else {
    const Site at = site(index, columns, p.width, p.height);
    const int width = resample == Resample::up ? p.width / 2 : 2 * p.width;
    const int height = resample == Resample::up ? p.height / 2 : 2 * p.height;
    const int y = resample == Resample::up ? at.y / 2 : 2 * at.y, x = resample == Resample::up ? at.x / 2 : 2 * at.x;
    const int64_t row = static_cast<int64_t>(width) * p.channels;
    const T* from = a + ((at.image * height + y) * width + x) * static_cast<int64_t>(p.channels) + at.column * lanes;
    if constexpr (resample == Resample::up)
      sum = load(from) + sum;
    else
      sum = 0.25f * (load(from) + load(from + p.channels) + load(from + row) + load(from + row + p.channels)) + sum;
  }
  if (bias != nullptr) sum = sum + load(bias + (index % columns) * lanes);
  store(b + index * lanes, sum);
}

template <typename T>
void add(const AddProblem& p, const void* a, void* b, const void* bias, cudaStream_t stream) {
  const int64_t threads = static_cast<int64_t>(p.n) * p.height * p.width * (p.channels / lanes);
  if (threads == 0) return;
  const auto kernel = p.resample == Resample::up     ? add_kernel<T, Resample::up>
                      : p.resample == Resample::down ? add_kernel<T, Resample::down>
                                                     : add_kernel<T, Resample::none>;
  kernel<<<static_cast<unsigned>((threads + block_threads - 1) / block_threads), block_threads, 0, stream>>>(
      p, static_cast<const T*>(a), static_cast<T*>(b), static_cast<const T*>(bias));
}

/// A thread keeps the weights of its eight channels and walks over pixels.
template <typename T>
__global__ void first_kernel(FirstConvolution p, const float* __restrict__ x, const float* weight, const float* bias,
                             T* __restrict__ y) {
  const int columns = p.channels / lanes, column = threadIdx.x % columns, rows = blockDim.x / columns;
  float w[9][lanes];
  Eight start;
#pragma unroll
  for (int i = 0; i < lanes; ++i) {
    const int channel = column * lanes + i;
    start.at[i] = bias[channel];
#pragma unroll
    for (int tap = 0; tap < 9; ++tap) w[tap][i] = weight[channel * 9 + tap];
  }
  const int64_t pixels = static_cast<int64_t>(p.n) * p.height * p.width;
  const int64_t step = static_cast<int64_t>(gridDim.x) * rows;
  for (int64_t pixel = static_cast<int64_t>(blockIdx.x) * rows + threadIdx.x / columns; pixel < pixels; pixel += step) {
    const Site at = site(pixel, 1, p.width, p.height);
    const float* image = x + at.image * p.height * p.width;
    Eight sum = start;
#pragma unroll
    for (int tap = 0; tap < 9; ++tap) {
      const int row = at.y + tap / 3 - 1, place = at.x + tap % 3 - 1;
      const bool inside = row >= 0 && row < p.height && place >= 0 && place < p.width;
      const float value = inside ? image[static_cast<int64_t>(row) * p.width + place] : 0.f;
#pragma unroll
      for (int i = 0; i < lanes; ++i) sum.at[i] += w[tap][i] * value;
    }
    store(y + pixel * p.channels + column * lanes, sum);
  }
}

template <typename T>
void first(const FirstConvolution& p, const float* x, const float* weight, const float* bias, void* y,
           cudaStream_t stream) {
  const int columns = p.channels / lanes, rows = columns >= block_threads ? 1 : block_threads / columns;
  const int64_t pixels = static_cast<int64_t>(p.n) * p.height * p.width;
  if (pixels == 0) return;
  // Each thread's weights are worth some dozens of pixels.
  constexpr int64_t most_blocks = 132 * 16;
  const int64_t wanted = (pixels + rows - 1) / rows;
  first_kernel<T><<<static_cast<unsigned>(wanted < most_blocks ? wanted : most_blocks), columns * rows, 0, stream>>>(
      p, x, weight, bias, static_cast<T*>(y));
}

}  // namespace

const char* add_images(const AddProblem& p, const void* a, void* b, const void* bias, CUstream_st* stream) {
  switch (p.element) {
    case Element::bfloat16:
      add<__nv_bfloat16>(p, a, b, bias, stream);
      break;
    case Element::float16:
      add<__half>(p, a, b, bias, stream);
      break;
    case Element::float32:
      add<float>(p, a, b, bias, stream);
      break;
  }
  return last_error();
}

const char* first_convolution(const FirstConvolution& p, const float* x, const float* weight, const float* bias,
                              void* y, CUstream_st* stream) {
  switch (p.element) {
    case Element::bfloat16:
      first<__nv_bfloat16>(p, x, weight, bias, y, stream);
      break;
    case Element::float16:
      first<__half>(p, x, weight, bias, y, stream);
      break;
    case Element::float32:
      first<float>(p, x, weight, bias, y, stream);
      break;
  }
  return last_error();
}

}  // namespace penumbra::cuda
