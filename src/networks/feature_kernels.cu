#include "networks/feature_kernels.h"

#include <type_traits>

#include "core/launch.cuh"
#include "networks/pixels.cuh"

namespace penumbra::cuda {
namespace {

constexpr int map_threads = 1024;
constexpr int lines_a_block = 4;

/// What is added to a thread's channels before anything else.
template <typename T>
__device__ Eight shift_of(const T* shift, const Place& at) {
  return shift != nullptr ? load(shift + at.column * lanes) : Eight{};
}

__device__ void accumulate(const Eight& v, Eight& sum, Eight& square) {
#pragma unroll
  for (int i = 0; i < lanes; ++i) {
    sum.at[i] += v.at[i];
    square.at[i] += v.at[i] * v.at[i];
  }
}

/// The block's cell of the sums: chunk blockIdx.x of image blockIdx.y.
__device__ void write_sums(const Place& at, int channels, const Eight& sum, const Eight& square, float* shared,
                           float* sums) {
  sum_rows(at, sum, square, shared);
  float* out = sums + (static_cast<size_t>(blockIdx.y) * gridDim.x + blockIdx.x) * channels * 2;
  for (int cell = threadIdx.x; cell < 2 * channels; cell += blockDim.x) out[cell] = shared[cell];
}

template <typename T>
__global__ void sum_kernel(Images p, const T* __restrict__ x, const T* shift, float* sums) {
  extern __shared__ float shared[];
  const int pixels = p.height * p.width;
  const Place at = place(p.channels, pixels);
  const T* image = x + static_cast<size_t>(blockIdx.y) * pixels * p.channels + at.column * lanes;
  const Eight added = shift_of(shift, at);
  Eight sum{}, square{};
#pragma unroll 4
  for (int pixel = at.first + at.row; pixel < at.last; pixel += at.rows)
    accumulate(load(image + static_cast<size_t>(pixel) * p.channels) + added, sum, square);
  write_sums(at, p.channels, sum, square, shared, sums);
}

template <typename T, Resample resample>
__global__ void add_kernel(Images p, const T* __restrict__ a, T* b, const T* bias, float* sums) {
  extern __shared__ float shared[];
  const int pixels = p.height * p.width;
  const Place at = place(p.channels, pixels);
  const Eight added = shift_of(bias, at);
  const size_t step = p.channels;
  T* to = b + blockIdx.y * (pixels * step) + at.column * lanes;
  // Of the first term's image.
  const int width = resample == Resample::up ? p.width / 2 : resample == Resample::down ? 2 * p.width : p.width;
  const int height = resample == Resample::up ? p.height / 2 : resample == Resample::down ? 2 * p.height : p.height;
  const T* from = a + static_cast<size_t>(blockIdx.y) * height * width * step + at.column * lanes;
  Eight sum{}, square{};
#pragma unroll 2
  for (int pixel = at.first + at.row; pixel < at.last; pixel += at.rows) {
    Eight v = load(to + pixel * step) + added;
    if constexpr (resample == Resample::none) {
      v = v + load(from + pixel * step);
    } else {
      const int y = pixel / p.width, x = pixel % p.width;
      if constexpr (resample == Resample::up) {
        v = v + load(from + (static_cast<size_t>(y / 2) * width + x / 2) * step);
      } else {
        const T* corner = from + (static_cast<size_t>(2 * y) * width + 2 * x) * step;
        const T* below = corner + width * step;
        v = v + 0.25f * (load(corner) + load(corner + step) + load(below) + load(below + step));
      }
    }
    store(to + pixel * step, v);
    accumulate(v, sum, square);
  }
  write_sums(at, p.channels, sum, square, shared, sums);
}

/// One block an image. Where there are fewer channels than threads, several threads share a channel's chunks.
__global__ void map_kernel(int pixels, NormPart first, NormPart second, NormAffine t, float* map) {
  extern __shared__ float shared[];
  const int n = blockIdx.x, channels = first.channels + second.channels;
  const int shares = max(1, static_cast<int>(blockDim.x) / channels);
  for (int item = threadIdx.x; item < channels * shares; item += blockDim.x) {
    const int channel = item % channels, share = item / channels;
    const bool in_first = channel < first.channels;
    const NormPart part = in_first ? first : second;
    const auto* cell = reinterpret_cast<const float2*>(part.sums) +
                       static_cast<size_t>(n) * part.chunks * part.channels +
                       (in_first ? channel : channel - first.channels);
    float sum = 0, square = 0;
#pragma unroll 4
    for (int chunk = share; chunk < part.chunks; chunk += shares) {
      const float2 two = cell[static_cast<size_t>(chunk) * part.channels];
      sum += two.x;
      square += two.y;
    }
    shared[2 * item] = sum;
    shared[2 * item + 1] = square;
  }
  __syncthreads();
  const int width = channels / t.groups;
  const float count = static_cast<float>(pixels) * width;
  const float* film = t.film != nullptr ? t.film + static_cast<size_t>(n) * 2 * channels : nullptr;
  for (int channel = threadIdx.x; channel < channels; channel += blockDim.x) {
    const int begin = channel / width * width;
    float sum = 0, square = 0;
    for (int share = 0; share < shares; ++share)
      for (int c = begin; c < begin + width; ++c) {
        sum += shared[2 * (share * channels + c)];
        square += shared[2 * (share * channels + c) + 1];
      }
    const float mean = sum / count;
    const float inverse_sd = rsqrtf(fmaxf(square / count - mean * mean, 0.f) + t.epsilon);
    const float factor = film != nullptr ? 1 + film[channel] : 1.f;
    const float gain = t.weight[channel] * factor * inverse_sd;
    float* cell = map + (static_cast<size_t>(n) * channels + channel) * 2;
    cell[0] = gain;
    cell[1] = t.bias[channel] * factor + (film != nullptr ? film[channels + channel] : 0.f) - mean * gain;
  }
}

/// A thread's channels: y = f(gain x + offset).
struct Map {
  Eight gain, offset;
  bool activate;

  __device__ Map(const float* map, int channels, int first, const Eight& shift, bool activate) : activate(activate) {
    const float* cell = map + (static_cast<size_t>(blockIdx.y) * channels + first) * 2;
#pragma unroll
    for (int i = 0; i < lanes; ++i) {
      gain.at[i] = cell[2 * i];
      offset.at[i] = cell[2 * i + 1] + cell[2 * i] * shift.at[i];
    }
  }

  __device__ Eight operator()(Eight v) const {
#pragma unroll
    for (int i = 0; i < lanes; ++i) {
      const float z = gain.at[i] * v.at[i] + offset.at[i];
      v.at[i] = activate ? z * sigmoid(z) : z;
    }
    return v;
  }
};

/// Writes every pixel once, or in a square of four, or the mean of four: the resampled image is never read again.
template <typename T, Resample resample>
__global__ void apply_kernel(Images p, NormTarget target, const T* __restrict__ x, const T* shift, const float* map,
                             T* __restrict__ y) {
  const int pixels = p.height * p.width;
  const Place at = place(p.channels, resample == Resample::down ? pixels / 4 : pixels);
  const int channel = target.first_channel + at.column * lanes;
  const Map f(map, target.channels, channel, shift_of(shift, at), target.activate);
  const size_t step = p.channels, row = p.width * step, out = target.channels;
  const T* from = x + blockIdx.y * (pixels * step) + at.column * lanes;
  const size_t out_pixels = resample == Resample::up     ? 4 * static_cast<size_t>(pixels)
                            : resample == Resample::down ? pixels / 4
                                                         : pixels;
  T* to = y + blockIdx.y * (out_pixels * out) + channel;
#pragma unroll 4
  for (int pixel = at.first + at.row; pixel < at.last; pixel += at.rows) {
    if constexpr (resample == Resample::none) {
      store(to + pixel * out, f(load(from + pixel * step)));
    } else if constexpr (resample == Resample::up) {
      const Eight v = f(load(from + pixel * step));
      const size_t line = 2 * p.width * out;
      T* corner = to + (pixel / p.width) * 2 * line + (pixel % p.width) * 2 * out;
      store(corner, v);
      store(corner + out, v);
      store(corner + line, v);
      store(corner + line + out, v);
    } else {
      const int half = p.width / 2;
      const T* corner = from + (pixel / half) * 2 * row + (pixel % half) * 2 * step;
      const Eight upper = f(load(corner)) + f(load(corner + step));
      const Eight lower = f(load(corner + row)) + f(load(corner + row + step));
      store(to + pixel * out, 0.25f * (upper + lower));
    }
  }
}

/// A block takes a few lines of an image; a thread's pixels are neighbours, so that each needs three new numbers.
template <typename T>
__global__ void __launch_bounds__(pixel_threads)
    first_kernel(Images p, const float* __restrict__ x, const float* weight, const float* bias, T* __restrict__ y,
                 float* sums) {
  extern __shared__ float shared[];
  const Place at = place(p.channels, p.height);
  float w[9][lanes];
  Eight start;
#pragma unroll
  for (int i = 0; i < lanes; ++i) {
    const int channel = at.column * lanes + i;
    start.at[i] = bias[channel];
#pragma unroll
    for (int tap = 0; tap < 9; ++tap) w[tap][i] = weight[channel * 9 + tap];
  }
  const float* image = x + static_cast<size_t>(blockIdx.y) * p.height * p.width;
  const int part = (p.width + at.rows - 1) / at.rows, begin = at.row * part, end = min(begin + part, p.width);
  Eight sum{}, square{};
  for (int line = at.first; line < at.last; ++line) {
    const auto value = [&](int dy, int column) {
      const int row = line + dy - 1;
      const bool inside = row >= 0 && row < p.height && column >= 0 && column < p.width;
      return inside ? image[static_cast<size_t>(row) * p.width + column] : 0.f;
    };
    float left[3], middle[3], right[3];
#pragma unroll
    for (int dy = 0; dy < 3; ++dy) {
      left[dy] = value(dy, begin - 1);
      middle[dy] = value(dy, begin);
    }
    T* to = y + (static_cast<size_t>(blockIdx.y) * p.height + line) * p.width * p.channels + at.column * lanes;
    for (int column = begin; column < end; ++column) {
      Eight v = start;
#pragma unroll
      for (int dy = 0; dy < 3; ++dy) {
        right[dy] = value(dy, column + 1);
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

/// Each pixel's nine products with the taps; its threads are neighbours in one warp.
template <typename T>
__global__ void __launch_bounds__(pixel_threads) product_kernel(Images p, const T* __restrict__ x, const float* map,
                                                                const float* weight, float* __restrict__ products) {
  const int pixels = p.height * p.width;
  const Place at = place(p.channels, pixels);
  const Map f(map, p.channels, at.column * lanes, Eight{}, true);
  float w[9][lanes];
#pragma unroll
  for (int i = 0; i < lanes; ++i)
#pragma unroll
    for (int tap = 0; tap < 9; ++tap) w[tap][i] = weight[(at.column * lanes + i) * 9 + tap];
  const unsigned lane = threadIdx.x % 32;
  const unsigned group = at.columns == 32 ? 0xffffffffu : ((1u << at.columns) - 1) << (lane / at.columns * at.columns);
  const T* from = x + static_cast<size_t>(blockIdx.y) * pixels * p.channels + at.column * lanes;
  float* to = products + static_cast<size_t>(blockIdx.y) * pixels * 9;
  for (int pixel = at.first + at.row; pixel < at.last; pixel += at.rows) {
    const Eight v = f(load(from + static_cast<size_t>(pixel) * p.channels));
    float dot[9];
#pragma unroll
    for (int tap = 0; tap < 9; ++tap) {
      dot[tap] = 0;
#pragma unroll
      for (int i = 0; i < lanes; ++i) dot[tap] += w[tap][i] * v.at[i];
    }
    for (int offset = at.columns / 2; offset > 0; offset /= 2)
#pragma unroll
      for (int tap = 0; tap < 9; ++tap) dot[tap] += __shfl_xor_sync(group, dot[tap], offset);
#pragma unroll
    for (int tap = 0; tap < 9; ++tap)
      if (tap % at.columns == at.column) to[static_cast<size_t>(pixel) * 9 + tap] = dot[tap];
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
      sum += image[(static_cast<size_t>(row) * p.width + column) * 9 + tap];
  }
  y[static_cast<size_t>(blockIdx.y) * pixels + pixel] = sum;
}

int threads_of(int channels) { return channels / lanes * rows_of(channels); }

size_t shared_of(int channels) { return 2 * sizeof(float) * channels; }

dim3 grid_of(const Images& p) { return dim3(sum_chunks(p), p.n); }

/// Calls f with a null pointer of the images' type.
template <typename Function>
const char* of_type(Element element, Function f) {
  switch (element) {
    case Element::bfloat16:
      f(static_cast<__nv_bfloat16*>(nullptr));
      break;
    case Element::float16:
      f(static_cast<__half*>(nullptr));
      break;
    case Element::float32:
      f(static_cast<float*>(nullptr));
      break;
  }
  return last_error();
}

template <typename T>
const T* typed(const void* p, T*) {
  return static_cast<const T*>(p);
}
template <typename T>
T* typed(void* p, T*) {
  return static_cast<T*>(p);
}

}  // namespace

int sum_chunks(const Images& p) {
  // About eight passes of a block's rows in a chunk at least, and blocks enough for a large card twice over.
  constexpr int blocks = 2112;
  const int rows = rows_of(p.channels), pixels = p.height * p.width;
  const int most = (pixels + 8 * rows - 1) / (8 * rows);
  const int wanted = (blocks + p.n - 1) / p.n > 64 ? (blocks + p.n - 1) / p.n : 64;
  return most < 1 ? 1 : most < wanted ? most : wanted;
}

const char* sum_channels(const Images& p, const void* x, const void* shift, float* sums, CUstream_st* stream) {
  return of_type(p.element, [&](auto* t) {
    sum_kernel<<<grid_of(p), threads_of(p.channels), shared_of(p.channels), stream>>>(p, typed(x, t), typed(shift, t),
                                                                                      sums);
  });
}

const char* add_images(const Images& p, Resample resample, const void* a, void* b, const void* bias, float* sums,
                       CUstream_st* stream) {
  return of_type(p.element, [&](auto* t) {
    using T = std::remove_pointer_t<decltype(t)>;
    const auto kernel = resample == Resample::up     ? add_kernel<T, Resample::up>
                        : resample == Resample::down ? add_kernel<T, Resample::down>
                                                     : add_kernel<T, Resample::none>;
    kernel<<<grid_of(p), threads_of(p.channels), shared_of(p.channels), stream>>>(p, typed(a, t), typed(b, t),
                                                                                  typed(bias, t), sums);
  });
}

const char* norm_map(int n, int pixels, const NormPart& first, const NormPart& second, const NormAffine& affine,
                     float* map, CUstream_st* stream) {
  const int channels = first.channels + second.channels,
            shares = map_threads / channels > 1 ? map_threads / channels : 1;
  map_kernel<<<n, map_threads, shared_of(channels * shares), stream>>>(pixels, first, second, affine, map);
  return last_error();
}

const char* apply_map(const Images& p, const NormTarget& target, const void* x, const void* shift, const float* map,
                      void* y, CUstream_st* stream) {
  return of_type(p.element, [&](auto* t) {
    using T = std::remove_pointer_t<decltype(t)>;
    const auto kernel = target.resample == Resample::up     ? apply_kernel<T, Resample::up>
                        : target.resample == Resample::down ? apply_kernel<T, Resample::down>
                                                            : apply_kernel<T, Resample::none>;
    kernel<<<grid_of(p), threads_of(p.channels), 0, stream>>>(p, target, typed(x, t), typed(shift, t), map,
                                                              typed(y, t));
  });
}

int first_chunks(const Images& p) { return (p.height + lines_a_block - 1) / lines_a_block; }

const char* first_convolution(const Images& p, const float* x, const float* weight, const float* bias, void* y,
                              float* sums, CUstream_st* stream) {
  return of_type(p.element, [&](auto* t) {
    first_kernel<<<dim3(first_chunks(p), p.n), threads_of(p.channels), shared_of(p.channels), stream>>>(
        p, x, weight, bias, typed(y, t), sums);
  });
}

bool last_convolution_knows(int channels) {
  const int columns = channels / lanes;
  return channels % lanes == 0 && columns >= 1 && columns <= 32 && (columns & (columns - 1)) == 0;
}

const char* last_convolution(const Images& p, const void* x, const float* map, const float* weight, const float* bias,
                             float* products, float* y, CUstream_st* stream) {
  const char* error = of_type(p.element, [&](auto* t) {
    product_kernel<<<grid_of(p), threads_of(p.channels), 0, stream>>>(p, typed(x, t), map, weight, products);
  });
  if (error != nullptr) return error;
  const int pixels = p.height * p.width;
  gather_kernel<<<dim3((pixels + pixel_threads - 1) / pixel_threads, p.n), pixel_threads, 0, stream>>>(p, products,
                                                                                                       bias, y);
  return last_error();
}

}  // namespace penumbra::cuda
