#include "networks/pixel_ops.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>

#include <cstring>

#include "networks/cpu_vector.h"
#include "networks/cuda_features.h"

namespace penumbra {
namespace {

bool own_loops_serve(const Tensor& x) {
  return x.is_cpu() && !(c10::GradMode::is_enabled() && x.requires_grad()) &&
         (x.scalar_type() == at::kFloat || x.scalar_type() == at::kBFloat16) && x.dim() == 4 &&
         x.is_contiguous(at::MemoryFormat::ChannelsLast);
}

Tensor empty(const Tensor& like, int64_t channels, int64_t height, int64_t width) {
  return at::empty({like.size(0), channels, height, width},
                   like.options().memory_format(at::MemoryFormat::ChannelsLast));
}

template <typename T>
PENUMBRA_INLINE void add_loop(const T* a, T* b, int64_t count) {
  for (int64_t i = 0; i < count; ++i) shorten(widen(a[i]) + widen(b[i]), b[i]);
}

/// The mean of two pixels in each of two rows, for every pixel of a row of the result.
template <typename T>
PENUMBRA_INLINE void halve_loop(const T* upper, const T* lower, T* __restrict out, int64_t width, int64_t channels) {
  for (int64_t x = 0; x < width; ++x, upper += 2 * channels, lower += 2 * channels, out += channels)
    for (int64_t c = 0; c < channels; ++c)
      shorten(0.25f * (widen(upper[c]) + widen(upper[channels + c]) + widen(lower[c]) + widen(lower[channels + c])),
              out[c]);
}

// The clones: plain functions, because templates cannot have them.
PENUMBRA_CLONES void add_run(const float* a, float* b, int64_t count) { add_loop(a, b, count); }
PENUMBRA_CLONES void add_run(const uint16_t* a, uint16_t* b, int64_t count) { add_loop(a, b, count); }
PENUMBRA_CLONES void halve_row(const float* upper, const float* lower, float* out, int64_t width, int64_t channels) {
  halve_loop(upper, lower, out, width, channels);
}
PENUMBRA_CLONES void halve_row(const uint16_t* upper, const uint16_t* lower, uint16_t* out, int64_t width,
                               int64_t channels) {
  halve_loop(upper, lower, out, width, channels);
}

constexpr int64_t grain = 1 << 18;  // elements worth waking a thread for, some 50 microseconds

template <typename T>
void add_all(const Tensor& a, const Tensor& b) {
  const auto* from = static_cast<const T*>(a.data_ptr());
  auto* to = static_cast<T*>(b.data_ptr());
  at::parallel_for(0, a.numel(), grain,
                   [&](int64_t begin, int64_t end) { add_run(from + begin, to + begin, end - begin); });
}

template <typename T>
void halve_all(const Tensor& x, const Tensor& y) {
  const auto channels = x.size(1), width = y.size(3), rows = y.size(0) * y.size(2);
  const auto* from = static_cast<const T*>(x.data_ptr());
  auto* to = static_cast<T*>(y.data_ptr());
  const auto step = 2 * width * channels;
  at::parallel_for(0, rows, std::max<int64_t>(1, grain / step), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row)
      halve_row(from + 2 * row * step, from + (2 * row + 1) * step, to + row * width * channels, width, channels);
  });
}

}  // namespace

Tensor resampled(const Tensor& x, Resample resample) {
  return resample == Resample::down ? halve(x) : resample == Resample::up ? twice(x) : x;
}

Features add_to(const Tensor& from, Features other, Resample resample) {
  auto& [b, bias, sums] = other;
  if (cuda_add_serves(from, b, bias, resample)) return cuda_add(from, b, bias, resample);
  if (bias.defined()) b = b + bias.reshape({1, -1, 1, 1});
  const auto a = resampled(from, resample);
  if (!own_loops_serve(a) || !own_loops_serve(b) || a.sizes() != b.sizes() || a.scalar_type() != b.scalar_type())
    return {a + b};
  if (a.scalar_type() == at::kFloat)
    add_all<float>(a, b);
  else
    add_all<uint16_t>(a, b);
  return {b};
}

Tensor join(const Tensor& a, const Tensor& b) {
  if (!own_loops_serve(a) || !own_loops_serve(b) || a.scalar_type() != b.scalar_type()) return at::cat({a, b}, 1);
  const auto y = empty(a, a.size(1) + b.size(1), a.size(2), a.size(3));
  const auto size = static_cast<size_t>(a.element_size());
  const auto left = static_cast<size_t>(a.size(1)) * size, right = static_cast<size_t>(b.size(1)) * size;
  const auto *p = static_cast<const char*>(a.data_ptr()), *q = static_cast<const char*>(b.data_ptr());
  auto* to = static_cast<char*>(y.data_ptr());
  const auto pixels = a.size(0) * a.size(2) * a.size(3);
  at::parallel_for(0, pixels, std::max<int64_t>(1, grain / y.size(1)), [&](int64_t begin, int64_t end) {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) {
      std::memcpy(to + i * (left + right), p + i * left, left);
      std::memcpy(to + i * (left + right) + left, q + i * right, right);
    }
  });
  return y;
}

std::vector<Features> side_by_side(const Features& a, const Features& b) {
  std::vector<Features> parts{a, b};
  if (cuda_parts_serve(parts)) return parts;
  return {{join(a.value, b.value)}};
}

Tensor halve(const Tensor& x) {
  if (!own_loops_serve(x) || x.size(2) % 2 != 0 || x.size(3) % 2 != 0) return at::avg_pool2d(x, 2);
  const auto y = empty(x, x.size(1), x.size(2) / 2, x.size(3) / 2);
  if (x.scalar_type() == at::kFloat)
    halve_all<float>(x, y);
  else
    halve_all<uint16_t>(x, y);
  return y;
}

Tensor twice(const Tensor& x) {
  if (!own_loops_serve(x)) return at::upsample_nearest2d(x, {x.size(2) * 2, x.size(3) * 2});
  const auto y = empty(x, x.size(1), 2 * x.size(2), 2 * x.size(3));
  const auto pixel = static_cast<size_t>(x.size(1) * x.element_size());
  const auto width = static_cast<size_t>(x.size(3));
  const auto* from = static_cast<const char*>(x.data_ptr());
  auto* to = static_cast<char*>(y.data_ptr());
  at::parallel_for(0, x.size(0) * x.size(2), std::max<int64_t>(1, grain / (x.size(1) * x.size(3))),
                   [&](int64_t begin, int64_t end) {
                     for (auto row = static_cast<size_t>(begin); row < static_cast<size_t>(end); ++row) {
                       auto* upper = to + 4 * row * width * pixel;
                       for (size_t i = 0; i < width; ++i) {
                         const auto* source = from + (row * width + i) * pixel;
                         std::memcpy(upper + 2 * i * pixel, source, pixel);
                         std::memcpy(upper + (2 * i + 1) * pixel, source, pixel);
                       }
                       std::memcpy(upper + 2 * width * pixel, upper, 2 * width * pixel);
                     }
                   });
  return y;
}

}  // namespace penumbra
