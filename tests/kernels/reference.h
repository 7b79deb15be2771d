/// The operations of a U-Net in float64, as a textbook writes them: images are [n, height, width, channels].
#pragma once

#include <cmath>
#include <vector>

#include "networks/norm_kernels.h"

namespace penumbra::cuda::check {

struct Batch {
  int n, height, width, channels;
  std::vector<double> at;

  Batch(int n_, int height_, int width_, int channels_)
      : n(n_), height(height_), width(width_), channels(channels_), at(size()) {}
  Batch(int n_, int height_, int width_, int channels_, std::vector<double> numbers)
      : n(n_), height(height_), width(width_), channels(channels_), at(std::move(numbers)) {}

  size_t size() const { return static_cast<size_t>(n) * height * width * channels; }
  size_t index(int i, int y, int x, int c) const {
    return ((static_cast<size_t>(i) * height + y) * width + x) * channels + c;
  }
  double operator()(int i, int y, int x, int c) const {
    return y < 0 || y >= height || x < 0 || x >= width ? 0 : at[index(i, y, x, c)];
  }
  double& operator()(int i, int y, int x, int c) { return at[index(i, y, x, c)]; }
};

/// use(image, y, x, channel) for every number of a batch.
template <typename Use>
void for_all(const Batch& batch, Use use) {
  for (int i = 0; i < batch.n; ++i)
    for (int y = 0; y < batch.height; ++y)
      for (int x = 0; x < batch.width; ++x)
        for (int c = 0; c < batch.channels; ++c) use(i, y, x, c);
}

inline Batch resampled(const Batch& from, Resample how) {
  const auto size = [&](int extent) {
    return how == Resample::up ? 2 * extent : how == Resample::down ? extent / 2 : extent;
  };
  Batch to(from.n, size(from.height), size(from.width), from.channels);
  for_all(to, [&](int i, int y, int x, int c) {
    if (how == Resample::none) to(i, y, x, c) = from(i, y, x, c);
    if (how == Resample::up) to(i, y, x, c) = from(i, y / 2, x / 2, c);
    if (how == Resample::down)
      to(i, y, x, c) = 0.25 * (from(i, 2 * y, 2 * x, c) + from(i, 2 * y, 2 * x + 1, c) + from(i, 2 * y + 1, 2 * x, c) +
                               from(i, 2 * y + 1, 2 * x + 1, c));
  });
  return to;
}

inline double silu(double z) { return z / (1 + std::exp(-z)); }

/// Gain, offset and the rows (scale, then shift) of each image, which may be none; the groups.
struct Affine64 {
  std::vector<double> weight, bias, film;
  int groups;
  double epsilon;
};

/// (mean, 1/SD) of each image's groups.
inline std::vector<double> moments(const Batch& x, const Affine64& affine) {
  const int width = x.channels / affine.groups;
  const double count = static_cast<double>(x.height) * x.width * width;
  std::vector<double> sums(static_cast<size_t>(2) * x.n * affine.groups);
  for_all(x, [&](int i, int y, int column, int c) {
    const double value = x(i, y, column, c);
    double* cell = &sums[2 * (static_cast<size_t>(i) * affine.groups + c / width)];
    cell[0] += value;
    cell[1] += value * value;
  });
  for (size_t cell = 0; cell < sums.size(); cell += 2) {
    const double mean = sums[cell] / count;
    sums[cell + 1] = 1 / std::sqrt(sums[cell + 1] / count - mean * mean + affine.epsilon);
    sums[cell] = mean;
  }
  return sums;
}

/// z = gain * normalised + offset of a channel.
inline double gain_of(const Affine64& affine, int channels, int i, int c) {
  return affine.weight[c] * (affine.film.empty() ? 1 : 1 + affine.film[static_cast<size_t>(2) * i * channels + c]);
}
inline double offset_of(const Affine64& affine, int channels, int i, int c) {
  if (affine.film.empty()) return affine.bias[c];
  const size_t row = static_cast<size_t>(2) * i * channels;
  return affine.bias[c] * (1 + affine.film[row + c]) + affine.film[row + channels + c];
}

inline Batch normalised(const Batch& x, const Affine64& affine, bool activate) {
  const auto moment = moments(x, affine);
  Batch y(x.n, x.height, x.width, x.channels);
  const int width = x.channels / affine.groups;
  for_all(x, [&](int i, int row, int column, int c) {
    const double* own = &moment[2 * (static_cast<size_t>(i) * affine.groups + c / width)];
    const double normal = (x(i, row, column, c) - own[0]) * own[1];
    const double z = gain_of(affine, x.channels, i, c) * normal + offset_of(affine, x.channels, i, c);
    y(i, row, column, c) = activate ? silu(z) : z;
  });
  return y;
}

/// 3x3, zeros around the image: weight [out, in, 3, 3].
inline Batch convolved(const Batch& x, int out, const std::vector<double>& weight, const std::vector<double>& bias) {
  Batch y(x.n, x.height, x.width, out);
  for_all(y, [&](int i, int row, int column, int c) {
    double sum = bias[c];
    for (int k = 0; k < x.channels; ++k)
      for (int tap = 0; tap < 9; ++tap)
        sum += weight[(static_cast<size_t>(c) * x.channels + k) * 9 + tap] *
               x(i, row + tap / 3 - 1, column + tap % 3 - 1, k);
    y(i, row, column, c) = sum;
  });
  return y;
}

/// Of all pixels: sum and sum of squares of each image's channels.
inline std::vector<double> channel_sums(const Batch& x) {
  std::vector<double> sums(static_cast<size_t>(2) * x.n * x.channels);
  for_all(x, [&](int i, int y, int column, int c) {
    const double value = x(i, y, column, c);
    double* cell = &sums[2 * (static_cast<size_t>(i) * x.channels + c)];
    cell[0] += value;
    cell[1] += value * value;
  });
  return sums;
}

/// [n, chunks, cells] to [n, cells].
inline std::vector<double> over_chunks(const std::vector<float>& sums, int n, int chunks, int cells) {
  std::vector<double> total(static_cast<size_t>(n) * cells);
  for (size_t item = 0; item < sums.size(); ++item)
    total[item / (static_cast<size_t>(chunks) * cells) * cells + item % cells] += sums[item];
  return total;
}

}  // namespace penumbra::cuda::check
