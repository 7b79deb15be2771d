#include "networks/norm_kernels.h"

#include "core/launch.cuh"
#include "networks/pixels.cuh"

namespace penumbra::cuda {
namespace {

template <typename T>
__global__ void sum_groups(NormProblem p, const T* __restrict__ x, float* statistics) {
  extern __shared__ __align__(16) float shared[];
  const Place at = place(p.channels, p.pixels);
  const T* image = x + static_cast<size_t>(blockIdx.y) * p.pixels * p.channels + at.column * lanes;
  Eight sum{}, square{};
  for_pixels<4>(
      at, [&](int pixel) { return load_raw(image + static_cast<size_t>(pixel) * p.channels); },
      [&](int, const Raw<T>& raw) { accumulate(widen(raw), sum, square); });
  sum_rows(at, sum, square, shared);
  const int width = p.channels / p.groups;
  for (int cell = threadIdx.x; cell < 2 * p.groups; cell += blockDim.x) {
    const int group = cell / 2, which = cell % 2;
    float total = 0;
    for (int c = 0; c < width; ++c) total += shared[2 * (group * width + c) + which];
    statistics[((static_cast<size_t>(blockIdx.y) * gridDim.x + blockIdx.x) * p.groups + group) * 2 + which] = total;
  }
}

/// Mean and 1/SD of each group of image n, from the chunks' sums, into shared[0 .. 2 groups).
__device__ void read_moments(const NormProblem& p, const float* statistics, int n, int chunks, float* shared) {
  auto* cells = reinterpret_cast<float2*>(shared);
  const auto* image = reinterpret_cast<const float2*>(statistics) + static_cast<size_t>(n) * chunks * p.groups;
  const int shares = shares_of(p.groups);
  for (int item = threadIdx.x; item < p.groups * shares; item += blockDim.x)
    cells[item] = sum_share(image + item % p.groups, p.groups, chunks, item / p.groups, shares);
  add_shares(cells, p.groups, shares);
  const float count = static_cast<float>(p.pixels) * (p.channels / p.groups);
  for (int group = threadIdx.x; group < p.groups; group += blockDim.x) {
    const auto [sum, square] = cells[group];
    const float mean = sum / count;
    cells[group] = {mean, rsqrtf(fmaxf(square / count - mean * mean, 0.f) + p.epsilon)};
  }
  __syncthreads();
}

/// Per channel of image n: z = gain * normalised + offset.
struct Affine {
  float gain, offset;
};

__device__ Affine affine(const NormProblem& p, const float* weight, const float* bias, const float* film, int n,
                         int channel) {
  if (film == nullptr) return {weight[channel], bias[channel]};
  const float* row = film + static_cast<size_t>(n) * 2 * p.channels;
  const float factor = 1 + row[channel];
  return {weight[channel] * factor, bias[channel] * factor + row[p.channels + channel]};
}

/// y = f(gain x + offset).
template <typename T>
__global__ void apply(NormProblem p, const T* __restrict__ x, const float* weight, const float* bias, const float* film,
                      T* __restrict__ y, const float* statistics) {
  extern __shared__ __align__(16) float shared[];
  const int n = blockIdx.y;
  const Place at = place(p.channels, p.pixels);
  // The statistics have as many chunks as this launch.
  read_moments(p, statistics, n, gridDim.x, shared);
  Map f;
#pragma unroll
  for (int i = 0; i < lanes; ++i) {
    const int channel = at.column * lanes + i, group = channel / (p.channels / p.groups);
    const Affine z = affine(p, weight, bias, film, n, channel);
    f.gain.at[i] = z.gain * shared[2 * group + 1];
    f.offset.at[i] = z.offset - shared[2 * group] * f.gain.at[i];
  }
  const size_t start = static_cast<size_t>(n) * p.pixels * p.channels + at.column * lanes;
  for_pixels<4>(
      at, [&](int pixel) { return load_raw(x + start + static_cast<size_t>(pixel) * p.channels); },
      [&](int pixel, const Raw<T>& raw) {
        const Eight v = widen(raw);
        store(y + start + static_cast<size_t>(pixel) * p.channels,
              p.activate ? f.template apply<true>(v) : f.template apply<false>(v));
      });
}

/// x and the gradient of y as they lie in memory.
template <typename T>
struct Pair {
  Raw<T> x, dy;
};

/// A thread's channels in the backward pass.
struct Channels {
  Eight mean, inverse_sd, gain, offset;
};

__device__ Channels channels_of(const NormProblem& p, const Place& at, const float* weight, const float* bias,
                                const float* film, const float* moments) {
  Channels c;
#pragma unroll
  for (int i = 0; i < lanes; ++i) {
    const int channel = at.column * lanes + i, group = channel / (p.channels / p.groups);
    const Affine z = affine(p, weight, bias, film, blockIdx.y, channel);
    c.mean.at[i] = moments[2 * group];
    c.inverse_sd.at[i] = moments[2 * group + 1];
    c.gain.at[i] = z.gain;
    c.offset.at[i] = z.offset;
  }
  return c;
}

/// d(activation)/dz times dy.
__device__ float through_activation(const NormProblem& p, float z, float dy) {
  if (!p.activate) return dy;
  const float s = sigmoid(z);
  return dy * s * (1 + z * (1 - s));
}

template <typename T>
__global__ void sum_gradients(NormProblem p, const T* __restrict__ x, const T* __restrict__ dy, const float* weight,
                              const float* bias, const float* film, const float* statistics, float* partial) {
  extern __shared__ __align__(16) float shared[];
  const Place at = place(p.channels, p.pixels);
  const int n = blockIdx.y;
  read_moments(p, statistics, n, gridDim.x, shared);
  const Channels c = channels_of(p, at, weight, bias, film, shared);
  __syncthreads();
  const size_t start = static_cast<size_t>(n) * p.pixels * p.channels + at.column * lanes;
  Eight shift{}, gain{};
  const auto read = [&](int pixel) -> Pair<T> {
    const size_t cell = start + static_cast<size_t>(pixel) * p.channels;
    return {load_raw(x + cell), load_raw(dy + cell)};
  };
  for_pixels<2>(at, read, [&](int, const Pair<T>& pair) {
    const Eight v = widen(pair.x), d = widen(pair.dy);
#pragma unroll
    for (int i = 0; i < lanes; ++i) {
      const float normal = (v.at[i] - c.mean.at[i]) * c.inverse_sd.at[i];
      const float dz = through_activation(p, c.gain.at[i] * normal + c.offset.at[i], d.at[i]);
      shift.at[i] += dz;
      gain.at[i] += dz * normal;
    }
  });
  sum_rows(at, shift, gain, shared);
  float* out = partial + (static_cast<size_t>(n) * gridDim.x + blockIdx.x) * p.channels * 2;
  for (int cell = threadIdx.x; cell < 2 * p.channels; cell += blockDim.x) out[cell] = shared[cell];
}

__global__ void add_chunks(NormProblem p, int chunks, const float* partial, float* sums) {
  const int cell = blockIdx.x * blockDim.x + threadIdx.x, n = blockIdx.y;
  if (cell >= 2 * p.channels) return;
  float total = 0;
  for (int chunk = 0; chunk < chunks; ++chunk)
    total += partial[(static_cast<size_t>(n) * chunks + chunk) * p.channels * 2 + cell];
  sums[static_cast<size_t>(n) * p.channels * 2 + cell] = total;
}

/// dx = (gain dz - mean(gain dz) - normalised * mean(gain dz normalised)) / SD, means over the group.
template <typename T>
__global__ void apply_gradients(NormProblem p, const T* __restrict__ x, const T* __restrict__ dy, const float* weight,
                                const float* bias, const float* film, const float* statistics, const float* sums,
                                T* __restrict__ dx) {
  extern __shared__ __align__(16) float shared[];
  const Place at = place(p.channels, p.pixels);
  const int n = blockIdx.y, width = p.channels / p.groups;
  read_moments(p, statistics, n, gridDim.x, shared);
  float* means = shared + 2 * p.groups;
  const float count = static_cast<float>(p.pixels) * width;
  for (int cell = threadIdx.x; cell < 2 * p.groups; cell += blockDim.x) {
    const int group = cell / 2, which = cell % 2;
    float total = 0;
    for (int i = 0; i < width; ++i) {
      const int channel = group * width + i;
      total += affine(p, weight, bias, film, n, channel).gain *
               sums[(static_cast<size_t>(n) * p.channels + channel) * 2 + which];
    }
    means[cell] = total / count;
  }
  __syncthreads();
  const Channels c = channels_of(p, at, weight, bias, film, shared);
  const size_t start = static_cast<size_t>(n) * p.pixels * p.channels + at.column * lanes;
  const auto read = [&](int pixel) -> Pair<T> {
    const size_t cell = start + static_cast<size_t>(pixel) * p.channels;
    return {load_raw(x + cell), load_raw(dy + cell)};
  };
  for_pixels<2>(at, read, [&](int pixel, const Pair<T>& pair) {
    Eight v = widen(pair.x);
    const Eight d = widen(pair.dy);
#pragma unroll
    for (int i = 0; i < lanes; ++i) {
      const float* mean = means + 2 * ((at.column * lanes + i) / width);
      const float normal = (v.at[i] - c.mean.at[i]) * c.inverse_sd.at[i];
      const float dz = through_activation(p, c.gain.at[i] * normal + c.offset.at[i], d.at[i]);
      v.at[i] = c.inverse_sd.at[i] * (c.gain.at[i] * dz - mean[0] - normal * mean[1]);
    }
    store(dx + start + static_cast<size_t>(pixel) * p.channels, v);
  });
}

struct Launch {
  dim3 grid;
  int threads;
  size_t shared;
};

Launch launch(const NormProblem& p) {
  const size_t moments = sizeof(float) * 4 * p.groups, sums = sums_memory(p.channels);
  return {dim3(norm_chunks(p), p.n), threads_of(p.channels), moments > sums ? moments : sums};
}

template <typename T>
void forward(const NormProblem& p, const T* x, const float* weight, const float* bias, const float* film, T* y,
             float* statistics, cudaStream_t stream) {
  const auto [grid, threads, shared] = launch(p);
  sum_groups<<<grid, threads, shared, stream>>>(p, x, statistics);
  apply<<<grid, threads, shared, stream>>>(p, x, weight, bias, film, y, statistics);
}

template <typename T>
void backward(const NormProblem& p, const T* x, const T* dy, const float* weight, const float* bias, const float* film,
              const float* statistics, float* partial, float* sums, T* dx, cudaStream_t stream) {
  const auto [grid, threads, shared] = launch(p);
  sum_gradients<<<grid, threads, shared, stream>>>(p, x, dy, weight, bias, film, statistics, partial);
  const dim3 cells((2 * p.channels + pixel_threads - 1) / pixel_threads, p.n);
  add_chunks<<<cells, pixel_threads, 0, stream>>>(p, norm_chunks(p), partial, sums);
  apply_gradients<<<grid, threads, shared, stream>>>(p, x, dy, weight, bias, film, statistics, sums, dx);
}

}  // namespace

int norm_chunks(const NormProblem& p) {
  // About eight passes of a block's rows in a chunk, and no more chunks than the second kernel likes to read.
  const int rows = rows_of(p.channels);
  const int wanted = (p.pixels + 8 * rows - 1) / (8 * rows);
  return wanted < 1 ? 1 : wanted > 64 ? 64 : wanted;
}

const char* norm_forward(const NormProblem& p, const void* x, const float* weight, const float* bias, const float* film,
                         void* y, float* statistics, CUstream_st* stream) {
  of_type(p.element, [&](auto* t) { forward(p, typed(x, t), weight, bias, film, typed(y, t), statistics, stream); });
  return last_error();
}

const char* norm_backward(const NormProblem& p, const void* x, const void* dy, const float* weight, const float* bias,
                          const float* film, const float* statistics, float* partial, float* sums, void* dx,
                          CUstream_st* stream) {
  of_type(p.element, [&](auto* t) {
    backward(p, typed(x, t), typed(dy, t), weight, bias, film, statistics, partial, sums, typed(dx, t), stream);
  });
  return last_error();
}

}  // namespace penumbra::cuda
