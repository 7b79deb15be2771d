/// A scan that is known in every part: smooth coils around an object of ellipses.
#pragma once

#include <ATen/ATen.h>

#include "core/random.h"

namespace penumbra::test {

inline Tensor coordinate(int64_t size) {
  const auto offset = at::arange(size, at::TensorOptions().dtype(at::kDouble)) - static_cast<double>(size / 2);
  return offset / (static_cast<double>(size) / 2);
}

/// A bright disk with darker and brighter parts in it, values 0 to 1, [H, W]. Its edges are soft: at the rim of k-space
/// nothing is left of it.
inline Tensor phantom(int64_t height, int64_t width) {
  const auto y = coordinate(height).unsqueeze(1), x = coordinate(width).unsqueeze(0);
  const auto ellipse = [&](double cy, double cx, double ry, double rx) {
    const auto radius = (((y - cy) / ry).square() + ((x - cx) / rx).square()).sqrt();
    return at::sigmoid((1 - radius) * (std::min(ry, rx) / 0.04));
  };
  return 0.9 * ellipse(0, 0, 0.75, 0.65) - 0.4 * ellipse(0.1, 0.2, 0.3, 0.15) - 0.5 * ellipse(-0.1, -0.25, 0.2, 0.15) +
         0.1 * ellipse(-0.4, 0, 0.12, 0.2);
}

/// Coils on a circle, each with a magnitude that falls with the distance and a phase that turns slowly; [coils, H, W].
inline Tensor smooth_coils(int64_t coils, int64_t height, int64_t width) {
  const auto y = coordinate(height).unsqueeze(1), x = coordinate(width).unsqueeze(0);
  std::vector<Tensor> maps;
  for (int64_t c = 0; c < coils; ++c) {
    const double angle = 2 * M_PI * static_cast<double>(c) / static_cast<double>(coils);
    const auto distance2 = (y - 1.2 * std::sin(angle)).square() + (x - 1.2 * std::cos(angle)).square();
    const auto phase = 0.8 * (std::cos(angle) * y - std::sin(angle) * x) + angle;
    maps.push_back(at::polar(1 / (0.5 + distance2), phase));
  }
  return at::stack(maps);
}

/// Standard normal in each component.
inline Tensor complex_noise(at::IntArrayRef shape, int64_t k) {
  const auto like = at::empty(shape, at::TensorOptions().dtype(at::kDouble));
  return at::complex(normal({41, 0, k}, Stream::probe, like), normal({41, 0, k + 1000}, Stream::probe, like));
}

}  // namespace penumbra::test
