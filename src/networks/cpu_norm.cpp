#include "networks/cpu_norm.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>

#include "networks/cpu_vector.h"

namespace penumbra {
namespace {

/// z / (1 + exp(-z)) to about 1e-6 relative, in operations that the compiler turns into vector code.
PENUMBRA_INLINE float silu(float z) {
  const float t = std::min(std::max(-z, -87.f), 87.f) * 1.44269504f;
  // Adding and taking away 1.5 * 2^23 rounds to the nearest whole number.
  const float whole = (t + 12582912.f) - 12582912.f;
  const float f = t - whole;
  // 2^f on [-1/2, 1/2]: Taylor's series in f ln 2.
  float p = 1.5403530e-4f;
  p = p * f + 1.3333558e-3f;
  p = p * f + 9.6181291e-3f;
  p = p * f + 5.5504109e-2f;
  p = p * f + 2.4022651e-1f;
  p = p * f + 6.9314718e-1f;
  p = p * f + 1.f;
  const float power = std::bit_cast<float>((static_cast<int32_t>(whole) + 127) << 23);
  return z / (1 + p * power);
}

/// Adds the pixels' values and squares, per channel, to `sum` and `square`.
template <typename T>
PENUMBRA_INLINE void add_moments(const T* x, int64_t pixels, int64_t channels, float* __restrict sum,
                                 float* __restrict square) {
  for (int64_t p = 0; p < pixels; ++p, x += channels)
    for (int64_t c = 0; c < channels; ++c) {
      const float v = widen(x[c]);
      sum[c] += v;
      square[c] += v * v;
    }
}

template <typename T, bool activate>
PENUMBRA_INLINE void scale(const T* x, T* __restrict y, int64_t pixels, int64_t channels, const float* __restrict gain,
                           const float* __restrict offset) {
  for (int64_t p = 0; p < pixels; ++p, x += channels, y += channels)
    for (int64_t c = 0; c < channels; ++c) {
      const float z = gain[c] * widen(x[c]) + offset[c];
      shorten(activate ? silu(z) : z, y[c]);
    }
}

/// `coefficients` is [2, channels]: gains, then offsets.
template <typename T>
PENUMBRA_INLINE void apply_either(const T* x, T* y, int64_t pixels, int64_t channels, const float* coefficients,
                                  bool activate) {
  if (activate)
    scale<T, true>(x, y, pixels, channels, coefficients, coefficients + channels);
  else
    scale<T, false>(x, y, pixels, channels, coefficients, coefficients + channels);
}

// The clones: plain functions, because templates cannot have them.
PENUMBRA_CLONES void moments_of(const float* x, int64_t pixels, int64_t channels, float* sum, float* square) {
  add_moments(x, pixels, channels, sum, square);
}
PENUMBRA_CLONES void moments_of(const uint16_t* x, int64_t pixels, int64_t channels, float* sum, float* square) {
  add_moments(x, pixels, channels, sum, square);
}
PENUMBRA_CLONES void apply_to(const float* x, float* y, int64_t pixels, int64_t channels, const float* coefficients,
                              bool activate) {
  apply_either(x, y, pixels, channels, coefficients, activate);
}
PENUMBRA_CLONES void apply_to(const uint16_t* x, uint16_t* y, int64_t pixels, int64_t channels,
                              const float* coefficients, bool activate) {
  apply_either(x, y, pixels, channels, coefficients, activate);
}

/// One image's work, in parts of its pixels.
template <typename T>
struct Images {
  const T* x;
  T* y;
  int64_t pixels, channels, groups;
  const float *weight, *bias, *film;  ///< film may be null
  bool activate;
  float epsilon;

  /// Sums and squares of the pixels from `first`, [2, channels].
  void moments(int64_t n, int64_t first, int64_t count, float* sums) const {
    // Short runs keep the sums exact enough, and the accumulators in the nearest cache.
    constexpr int64_t run = 256;
    std::vector<float> part(static_cast<size_t>(2 * channels));
    std::fill(sums, sums + 2 * channels, 0.f);
    for (int64_t p = 0; p < count; p += run) {
      std::fill(part.begin(), part.end(), 0.f);
      moments_of(x + (n * pixels + first + p) * channels, std::min(run, count - p), channels, part.data(),
                 part.data() + channels);
      for (size_t i = 0; i < part.size(); ++i) sums[i] += part[i];
    }
  }

  /// y = gain x + offset, from an image's sums; [2, channels].
  void coefficients(int64_t n, const float* sums, float* result) const {
    const auto width = channels / groups;
    const double count = static_cast<double>(pixels * width);
    for (int64_t group = 0; group < groups; ++group) {
      double sum = 0, square = 0;
      for (int64_t c = group * width; c < (group + 1) * width; ++c) {
        sum += sums[c];
        square += sums[channels + c];
      }
      const double mean = sum / count;
      const double inverse_sd = 1 / std::sqrt(std::max(square / count - mean * mean, 0.0) + epsilon);
      for (int64_t c = group * width; c < (group + 1) * width; ++c) {
        double gain = weight[c], offset = bias[c];
        if (film != nullptr) {
          const float* row = film + n * 2 * channels;
          gain *= 1 + row[c];
          offset = offset * (1 + row[c]) + row[channels + c];
        }
        result[c] = static_cast<float>(gain * inverse_sd);
        result[channels + c] = static_cast<float>(offset - mean * inverse_sd * gain);
      }
    }
  }

  void apply(int64_t n, int64_t first, int64_t count, const float* c) const {
    const auto at = (n * pixels + first) * channels;
    apply_to(x + at, y + at, count, channels, c, activate);
  }
};

/// Whole images a thread where there are enough: the second pass then finds its image in the cache.
template <typename T>
void run_images(const Images<T>& images, int64_t count) {
  at::parallel_for(0, count, 1, [&](int64_t begin, int64_t end) {
    std::vector<float> sums(static_cast<size_t>(2 * images.channels)), c(sums.size());
    for (int64_t n = begin; n < end; ++n) {
      images.moments(n, 0, images.pixels, sums.data());
      images.coefficients(n, sums.data(), c.data());
      images.apply(n, 0, images.pixels, c.data());
    }
  });
}

/// Few images: each is cut into as many parts as there are threads.
template <typename T>
void run_parts(const Images<T>& images, int64_t count) {
  const int64_t parts = at::get_num_threads(), length = (images.pixels + parts - 1) / parts;
  const auto width = 2 * images.channels;
  std::vector<float> sums(static_cast<size_t>(parts * width)), c(static_cast<size_t>(width));
  for (int64_t n = 0; n < count; ++n) {
    const auto each = [&](auto&& work) {
      at::parallel_for(0, parts, 1, [&](int64_t begin, int64_t end) {
        for (int64_t part = begin; part < end; ++part) {
          const auto first = part * length, last = std::min(first + length, images.pixels);
          work(part, first, std::max<int64_t>(0, last - first));
        }
      });
    };
    each([&](int64_t part, int64_t first, int64_t pixels) {
      images.moments(n, first, pixels, sums.data() + part * width);
    });
    for (int64_t part = 1; part < parts; ++part)
      for (int64_t i = 0; i < width; ++i) sums[static_cast<size_t>(i)] += sums[static_cast<size_t>(part * width + i)];
    images.coefficients(n, sums.data(), c.data());
    each([&](int64_t, int64_t first, int64_t pixels) { images.apply(n, first, pixels, c.data()); });
  }
}

template <typename T>
void run(const Tensor& x, const Tensor& y, const NormalizationTerms& terms, const Tensor& film) {
  const Images<T> images{static_cast<const T*>(x.data_ptr()),
                         static_cast<T*>(y.data_ptr()),
                         x.size(2) * x.size(3),
                         x.size(1),
                         terms.groups,
                         terms.weight.data_ptr<float>(),
                         terms.bias.data_ptr<float>(),
                         film.defined() ? film.data_ptr<float>() : nullptr,
                         terms.activate,
                         static_cast<float>(terms.epsilon)};
  // Waking a thread takes longer than it would save on a small image.
  constexpr int64_t small = 1 << 18;
  if (x.size(0) >= at::get_num_threads() || images.pixels * images.channels <= small)
    run_images(images, x.size(0));
  else
    run_parts(images, x.size(0));
}

bool plain_floats(const Tensor& x) { return x.scalar_type() == at::kFloat && x.is_contiguous(); }

bool differentiates(const Tensor& x) { return x.defined() && x.requires_grad(); }

}  // namespace

bool cpu_norm_serves(const Tensor& x, const NormalizationTerms& terms) {
  const bool gradients = c10::GradMode::is_enabled() && (differentiates(x) || differentiates(terms.weight) ||
                                                         differentiates(terms.bias) || differentiates(terms.film));
  return !gradients && x.is_cpu() && (x.scalar_type() == at::kFloat || x.scalar_type() == at::kBFloat16) &&
         x.dim() == 4 && x.is_contiguous(at::MemoryFormat::ChannelsLast) && plain_floats(terms.weight) &&
         plain_floats(terms.bias) && (!terms.film.defined() || terms.film.scalar_type() == at::kFloat);
}

Tensor cpu_normalise(const Tensor& x, const NormalizationTerms& terms) {
  const auto y = at::empty_like(x, x.options().memory_format(at::MemoryFormat::ChannelsLast));
  const auto film = terms.film.defined() ? terms.film.contiguous() : Tensor();
  if (x.scalar_type() == at::kFloat)
    run<float>(x, y, terms, film);
  else
    run<uint16_t>(x, y, terms, film);
  return y;
}

}  // namespace penumbra
