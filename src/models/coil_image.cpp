#include "models/coil_image.h"

#include <ATen/ATen.h>

#include "models/fourier.h"
#include "models/sampling_mask.h"

namespace penumbra {
namespace {

/// 1 at the centre, falling to 0.08 at the ends of the extent, zero beyond; ones where nothing is cut.
Tensor window(int64_t size, int64_t extent) {
  const auto options = at::TensorOptions().dtype(at::kDouble);
  if (extent == size) return at::ones({size}, options);
  auto values = at::zeros({size}, options);
  const auto offset = at::arange(extent, options) - static_cast<double>(extent / 2);
  around_centre(values, 0, extent).copy_(0.54 + 0.46 * (offset * (2 * M_PI / static_cast<double>(extent))).cos());
  return values;
}

}  // namespace

Tensor coil_combined(const Tensor& kspace, const Tensor& maps) {
  const auto images = centred_ifft(kspace);
  if (!maps.defined()) return images[0];
  const auto power = at::abs(maps).square().sum(0);
  const auto seen = power > 1e-6 * power.max();
  return (maps.conj() * images).sum(0) * (seen / at::where(seen, power, at::ones_like(power)));
}

Tensor least_squares_image(const Tensor& kspace, const Tensor& mask, const Tensor& maps) {
  if (!maps.defined()) return centred_ifft(kspace * mask)[0];
  const auto adjoint = [&](const Tensor& y) { return (maps.conj() * centred_ifft(y * mask)).sum(0); };
  auto r = adjoint(kspace);
  auto z = at::zeros_like(r), p = r;
  double rr = r.norm().square().item<double>();
  const double enough = 1e-12 * rr;
  for (int step = 0; step < 10 && rr > enough; ++step) {
    const auto Ap = centred_fft(maps * p) * mask;
    const double alpha = rr / Ap.norm().square().item<double>();
    z = z + alpha * p;
    r = r - alpha * adjoint(Ap);
    const double next = r.norm().square().item<double>();
    p = r + (next / rr) * p;
    rr = next;
  }
  return z;
}

Tensor low_resolution_image(const Tensor& kspace, const Tensor& mask, const Tensor& maps) {
  const auto [height, width] = sampled_centre(mask);
  if (height == 0) return {};
  const auto windows = at::outer(window(mask.size(0), height), window(mask.size(1), width));
  return coil_combined(kspace * windows, maps);
}

double resolved_part(const Tensor& white, const Tensor& mask) {
  constexpr int64_t rings = 16;
  constexpr double least = 4;  // signal three times the noise's power
  const auto offset = [](int64_t size) {
    const auto half = static_cast<double>(size) / 2;
    return ((at::arange(size, at::TensorOptions().dtype(at::kDouble)) - static_cast<double>(size / 2)) / half).square();
  };
  const auto radius = (offset(mask.size(0)).unsqueeze(1) + offset(mask.size(1))).sqrt().masked_select(mask);
  const auto power = at::abs(white).square().mean(0).masked_select(mask) / 2;
  for (int64_t ring = 0; ring < rings; ++ring) {
    const double inner = static_cast<double>(ring) / rings, outer = static_cast<double>(ring + 1) / rings;
    const auto here = power.masked_select(radius.ge(inner).logical_and(radius.lt(outer)));
    if (here.numel() == 0 || here.mean().item<double>() < least) return inner;
  }
  return 1;
}

Tensor resolved_image(const Tensor& image, double part) {
  const auto extent = [&](int64_t size) { return std::clamp<int64_t>(std::llround(part * size), 1, size); };
  const auto windows =
      at::outer(window(image.size(0), extent(image.size(0))), window(image.size(1), extent(image.size(1))));
  return centred_ifft((centred_fft(image.unsqueeze(0)) * windows))[0];
}

double white_level(const Tensor& image) {
  const auto sorted = std::get<0>(at::abs(image).flatten().sort());
  return sorted[static_cast<int64_t>(0.997 * static_cast<double>(sorted.size(0) - 1))].item<double>();
}

}  // namespace penumbra
