#include "diagnostics/alignment.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace penumbra::diagnostics {
namespace {

constexpr int most_passes = 10;

/// 0, 1, ..., -2, -1: what a place in a discrete correlation stands for.
int64_t signed_place(int64_t place, int64_t count) { return place > count / 2 ? place - count : place; }

/// 0 within the bound, minus infinity outside, [H, W].
Tensor bound(int64_t height, int64_t width, int64_t most) {
  const auto far = [&](int64_t count) {
    const auto place = at::arange(count);
    return at::minimum(place, count - place) > most;
  };
  const auto outside = far(height).unsqueeze(1).logical_or(far(width).unsqueeze(0));
  return at::zeros({height, width}, at::kDouble).masked_fill(outside, -INFINITY);
}

std::vector<Shift> best_shifts(const Tensor& spectra, const Tensor& reference, const Tensor& allowed) {
  const auto height = allowed.size(0), width = allowed.size(1);
  const auto product = spectra.conj() * at::fft_rfft2(reference).unsqueeze(0);
  const auto correlation = at::fft_irfft2(product, at::IntArrayRef{height, width}).sum(1) + allowed;
  const auto place = correlation.flatten(1).argmax(1);
  std::vector<Shift> shifts;
  for (int64_t i = 0; i < place.size(0); ++i) {
    const auto at = place[i].item<int64_t>();
    shifts.push_back({signed_place(at / width, height), signed_place(at % width, width)});
  }
  return shifts;
}

Tensor moved(const Tensor& images, const std::vector<Shift>& shifts) {
  std::vector<Tensor> rolled;
  for (int64_t i = 0; i < images.size(0); ++i)
    rolled.push_back(images[i].roll({shifts[i].rows, shifts[i].columns}, {-2, -1}));
  return at::stack(rolled);
}

/// How far the centre of these lights [n], whose ends meet, is from the middle. Where they have no centre, 0.
int64_t from_middle(const Tensor& light) {
  const auto count = light.size(0);
  const auto turn = at::arange(count, at::kDouble) * (2 * std::numbers::pi / static_cast<double>(count));
  const double east = (light * turn.cos()).sum().item<double>(), north = (light * turn.sin()).sum().item<double>();
  if (std::hypot(east, north) <= 1e-9 * light.sum().item<double>()) return 0;
  const double place = std::atan2(north, east) / (2 * std::numbers::pi) * static_cast<double>(count);
  const auto middle = static_cast<double>(count - 1) / 2;
  const double shift = std::remainder(middle - place, static_cast<double>(count));
  // What is within half a pixel of the middle stays.
  return static_cast<int64_t>(std::copysign(std::ceil(std::abs(shift) - 0.5 - 1e-6), shift));
}

/// All shifts by the same, so that the light of the mean is in the middle.
void centre(std::vector<Shift>& shifts, const Tensor& x) {
  const auto light = moved(x, shifts).mean(0).clamp_min(0).sum(0);
  const Shift middle{from_middle(light.sum(1)), from_middle(light.sum(0))};
  const auto height = x.size(2), width = x.size(3);
  const auto within = [](int64_t shift, int64_t count) { return signed_place((shift % count + count) % count, count); };
  for (auto& shift : shifts)
    shift = {within(shift.rows + middle.rows, height), within(shift.columns + middle.columns, width)};
}

bool same(const std::vector<Shift>& a, const std::vector<Shift>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Shift& p, const Shift& q) { return p.rows == q.rows && p.columns == q.columns; });
}

}  // namespace

Alignment align(const Tensor& images, int64_t most) {
  const auto x = images.detach().to(at::kCPU, at::kDouble);
  const auto allowed = bound(x.size(2), x.size(3), most);
  const auto spectra = at::fft_rfft2(x);
  auto shifts = best_shifts(spectra, x[0], allowed);
  for (int pass = 0; pass < most_passes; ++pass) {
    auto next = best_shifts(spectra, moved(x, shifts).mean(0), allowed);
    const bool settled = same(shifts, next);
    shifts = std::move(next);
    if (settled) break;
  }
  centre(shifts, x);
  return {moved(x, shifts), std::move(shifts)};
}

Shift shift_onto(const Tensor& image, const Tensor& reference, int64_t most) {
  const auto x = image.detach().to(at::kCPU, at::kDouble);
  const auto allowed = bound(x.size(1), x.size(2), most);
  return best_shifts(at::fft_rfft2(x.unsqueeze(0)), reference.detach().to(at::kCPU, at::kDouble), allowed).front();
}

}  // namespace penumbra::diagnostics
