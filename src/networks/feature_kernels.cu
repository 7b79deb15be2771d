#include "networks/feature_kernels.h"

#include <type_traits>

#include "core/launch.cuh"
#include "networks/pixels.cuh"

namespace penumbra::cuda {
namespace {

constexpr int map_threads = 512, map_parts = 8;

/// What is added to a thread's channels before anything else.
template <typename T>
__device__ Eight shift_of(const T* shift, const Place& at) {
  return shift != nullptr ? load(shift + at.column * lanes) : Eight{};
}

template <typename T>
__global__ void __launch_bounds__(pixel_threads)
    sum_kernel(Images p, const T* __restrict__ x, const T* shift, float* sums) {
  extern __shared__ __align__(16) float shared[];
  const int pixels = p.height * p.width;
  const Place at = place(p.channels, pixels);
  const T* image = x + static_cast<size_t>(blockIdx.y) * pixels * p.channels + at.column * lanes;
  const Eight added = shift_of(shift, at);
  Eight sum{}, square{};
  for_pixels<4>(
      at, [&](int pixel) { return load_raw(image + static_cast<size_t>(pixel) * p.channels); },
      [&](int, const Raw<T>& raw) { accumulate(widen(raw) + added, sum, square); });
  write_sums(at, p.channels, sum, square, shared, sums);
}

/// The two terms of a pixel's sum as they lie in memory.
template <typename T, int count>
struct Terms {
  Raw<T> to, from[count];
};

template <typename T, Resample resample>
__global__ void __launch_bounds__(pixel_threads)
    add_kernel(Images p, const T* __restrict__ a, T* b, const T* bias, float* sums) {
  constexpr int count = resample == Resample::down ? 4 : 1;
  extern __shared__ __align__(16) float shared[];
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
  const auto read = [&](int pixel) {
    Terms<T, count> terms;
    terms.to = load_raw(to + pixel * step);
    if constexpr (resample == Resample::none) {
      terms.from[0] = load_raw(from + pixel * step);
    } else {
      const int y = pixel / p.width, x = pixel % p.width;
      if constexpr (resample == Resample::up) {
        terms.from[0] = load_raw(from + (static_cast<size_t>(y / 2) * width + x / 2) * step);
      } else {
        const T* corner = from + (static_cast<size_t>(2 * y) * width + 2 * x) * step;
        const T* below = corner + width * step;
        terms.from[0] = load_raw(corner);
        terms.from[1] = load_raw(corner + step);
        terms.from[2] = load_raw(below);
        terms.from[3] = load_raw(below + step);
      }
    }
    return terms;
  };
  const auto use = [&](int pixel, const Terms<T, count>& terms) {
    Eight v = widen(terms.from[0]);
    if constexpr (resample == Resample::down)
      v = 0.25f * (v + widen(terms.from[1]) + widen(terms.from[2]) + widen(terms.from[3]));
    v = v + widen(terms.to) + added;
    store(to + pixel * step, v);
    accumulate(v, sum, square);
  };
  for_pixels<resample == Resample::down ? 1 : 4>(at, read, use);
  write_sums(at, p.channels, sum, square, shared, sums);
}

/// A block takes some groups of an image. Several threads share a channel's chunks.
__global__ void map_kernel(int pixels, NormPart first, NormPart second, NormAffine t, float* map) {
  extern __shared__ float2 cells[];
  const int n = blockIdx.x, channels = first.channels + second.channels, width = channels / t.groups;
  const int begin = t.groups * blockIdx.y / gridDim.y * width, end = t.groups * (blockIdx.y + 1) / gridDim.y * width;
  const int here = end - begin;
  if (here == 0) return;
  const int shares = shares_of(here);
  for (int item = threadIdx.x; item < here * shares; item += blockDim.x) {
    const int channel = begin + item % here, share = item / here;
    const bool in_first = channel < first.channels;
    const NormPart part = in_first ? first : second;
    const auto* cell = reinterpret_cast<const float2*>(part.sums) +
                       static_cast<size_t>(n) * part.chunks * part.channels +
                       (in_first ? channel : channel - first.channels);
    cells[item] = sum_share(cell, part.channels, part.chunks, share, shares);
  }
  add_shares(cells, here, shares);
  const float count = static_cast<float>(pixels) * width;
  const float* film = t.film != nullptr ? t.film + static_cast<size_t>(n) * t.film_step : nullptr;
  for (int channel = begin + threadIdx.x; channel < end; channel += blockDim.x) {
    float sum = 0, square = 0;
    const int group = (channel - begin) / width * width;
    for (int c = group; c < group + width; ++c) {
      sum += cells[c].x;
      square += cells[c].y;
    }
    const float mean = sum / count;
    const float inverse_sd = rsqrtf(fmaxf(square / count - mean * mean, 0.f) + t.epsilon);
    const float factor = film != nullptr ? 1 + film[channel] : 1.f;
    const float gain = t.weight[channel] * factor * inverse_sd;
    reinterpret_cast<float2*>(map)[static_cast<size_t>(n) * channels + channel] = {
        gain, t.bias[channel] * factor + (film != nullptr ? film[channels + channel] : 0.f) - mean * gain};
  }
}

__device__ Map map_of(const float* map, int channels, int first, const Eight& shift) {
  const auto* cell = reinterpret_cast<const float2*>(map) + static_cast<size_t>(blockIdx.y) * channels + first;
  Map f;
#pragma unroll
  for (int i = 0; i < lanes; ++i) {
    f.gain.at[i] = cell[i].x;
    f.offset.at[i] = cell[i].y + cell[i].x * shift.at[i];
  }
  return f;
}

/// Writes every pixel once, or in a square of four, or the mean of four: the resampled image is never read again.
template <typename T, Resample resample, bool activate>
__global__ void __launch_bounds__(pixel_threads) apply_kernel(Images p, NormTarget target, const T* __restrict__ x,
                                                              const T* shift, const float* map, T* __restrict__ y) {
  const int pixels = p.height * p.width;
  const Place at = place(p.channels, resample == Resample::down ? pixels / 4 : pixels);
  const int channel = target.first_channel + at.column * lanes;
  const Map f = map_of(map, target.channels, channel, shift_of(shift, at));
  const size_t step = p.channels, row = p.width * step, out = target.channels;
  const T* from = x + blockIdx.y * (pixels * step) + at.column * lanes;
  const size_t out_pixels = resample == Resample::up     ? 4 * static_cast<size_t>(pixels)
                            : resample == Resample::down ? pixels / 4
                                                         : pixels;
  T* to = y + blockIdx.y * (out_pixels * out) + channel;
  if constexpr (resample == Resample::down) {
    const int half = p.width / 2;
    for (int pixel = at.first + at.row; pixel < at.last; pixel += at.rows) {
      const T* corner = from + (pixel / half) * 2 * row + (pixel % half) * 2 * step;
      const Raw<T> square[] = {load_raw(corner), load_raw(corner + step), load_raw(corner + row),
                               load_raw(corner + row + step)};
      Eight sum{};
#pragma unroll
      for (const auto& raw : square) sum = sum + f.template apply<activate>(widen(raw));
      store(to + pixel * out, 0.25f * sum);
    }
  } else {
    for_pixels<4>(
        at, [&](int pixel) { return load_raw(from + pixel * step); },
        [&](int pixel, const Raw<T>& raw) {
          const Eight v = f.template apply<activate>(widen(raw));
          if constexpr (resample == Resample::none) {
            store(to + pixel * out, v);
          } else {
            const size_t line = 2 * p.width * out;
            T* corner = to + (pixel / p.width) * 2 * line + (pixel % p.width) * 2 * out;
            store(corner, v);
            store(corner + out, v);
            store(corner + line, v);
            store(corner + line + out, v);
          }
        });
  }
}

template <typename T, bool activate>
auto apply_kernel_for(Resample resample) {
  return resample == Resample::up     ? apply_kernel<T, Resample::up, activate>
         : resample == Resample::down ? apply_kernel<T, Resample::down, activate>
                                      : apply_kernel<T, Resample::none, activate>;
}

dim3 grid_of(const Images& p) { return dim3(sum_chunks(p), p.n); }

}  // namespace

int sum_chunks(const Images& p) {
  // Each block with whole batches of pixels, two at least.
  constexpr int batch = 4;
  const int pixels = p.height * p.width, rows = batch * rows_of(p.channels);
  const int wanted = (enough_blocks + p.n - 1) / p.n;
  const int batches = (pixels / wanted + rows - 1) / rows;
  const int chunk = rows * (batches < 2 ? 2 : batches);
  return (pixels + chunk - 1) / chunk;
}

const char* sum_channels(const Images& p, const void* x, const void* shift, float* sums, CUstream_st* stream) {
  of_type(p.element, [&](auto* t) {
    sum_kernel<<<grid_of(p), threads_of(p.channels), sums_memory(p.channels), stream>>>(p, typed(x, t), typed(shift, t),
                                                                                        sums);
  });
  return last_error();
}

const char* add_images(const Images& p, Resample resample, const void* a, void* b, const void* bias, float* sums,
                       CUstream_st* stream) {
  of_type(p.element, [&](auto* t) {
    using T = std::remove_pointer_t<decltype(t)>;
    const auto kernel = resample == Resample::up     ? add_kernel<T, Resample::up>
                        : resample == Resample::down ? add_kernel<T, Resample::down>
                                                     : add_kernel<T, Resample::none>;
    kernel<<<grid_of(p), threads_of(p.channels), sums_memory(p.channels), stream>>>(p, typed(a, t), typed(b, t),
                                                                                    typed(bias, t), sums);
  });
  return last_error();
}

const char* norm_map(int n, int pixels, const NormPart& first, const NormPart& second, const NormAffine& affine,
                     float* map, CUstream_st* stream) {
  const int channels = first.channels + second.channels;
  const int most = channels > map_threads ? channels : map_threads;
  map_kernel<<<dim3(n, map_parts), map_threads, most * sizeof(float2), stream>>>(pixels, first, second, affine, map);
  return last_error();
}

const char* apply_map(const Images& p, const NormTarget& target, const void* x, const void* shift, const float* map,
                      void* y, CUstream_st* stream) {
  of_type(p.element, [&](auto* t) {
    using T = std::remove_pointer_t<decltype(t)>;
    const auto kernel =
        target.activate ? apply_kernel_for<T, true>(target.resample) : apply_kernel_for<T, false>(target.resample);
    kernel<<<grid_of(p), threads_of(p.channels), 0, stream>>>(p, target, typed(x, t), typed(shift, t), map,
                                                              typed(y, t));
  });
  return last_error();
}

}  // namespace penumbra::cuda
