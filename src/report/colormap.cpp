#include "report/colormap.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/error.h"

namespace penumbra::report {
namespace {

constexpr int64_t levels = 256;

struct Anchor {
  double lightness, chroma, hue_degrees;
};

/// Equally spaced anchors; their lightness is equally spaced too, except for the diverging map's turn.
std::vector<Anchor> anchors(Colormap map) {
  switch (map) {
    case Colormap::ember:
      return {{0.100, 0.02, 290}, {0.274, 0.12, 298}, {0.448, 0.17, 345},
              {0.622, 0.18, 32},  {0.796, 0.15, 68},  {0.970, 0.04, 95}};
    case Colormap::sd:
      return {{0.160, 0.06, 272}, {0.320, 0.12, 262}, {0.480, 0.10, 225},
              {0.640, 0.11, 178}, {0.800, 0.15, 138}, {0.960, 0.13, 108}};
    case Colormap::diverging:
      return {{0.340, 0.12, 262}, {0.550, 0.14, 255}, {0.760, 0.08, 245}, {0.970, 0, 0},
              {0.760, 0.10, 50},  {0.550, 0.17, 32},  {0.340, 0.13, 25}};
    case Colormap::gray:
      break;
  }
  return {};
}

uint8_t gamma_byte(double linear) {
  const auto x = std::clamp(linear, 0.0, 1.0);
  const auto encoded = x <= 0.0031308 ? 12.92 * x : 1.055 * std::pow(x, 1 / 2.4) - 0.055;
  return static_cast<uint8_t>(std::lround(255 * encoded));
}

/// OKLab (B. Ottosson, 2020) to sRGB.
Colour from_oklab(double lightness, double a, double b) {
  const auto cube = [](double v) { return v * v * v; };
  const auto l = cube(lightness + 0.3963377774 * a + 0.2158037573 * b);
  const auto m = cube(lightness - 0.1055613458 * a - 0.0638541728 * b);
  const auto s = cube(lightness - 0.0894841775 * a - 1.2914855480 * b);
  return {gamma_byte(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
          gamma_byte(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
          gamma_byte(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s)};
}

/// [levels, 3] bytes.
Tensor table(Colormap map) {
  auto rows = at::empty({levels, 3}, at::kByte);
  auto* bytes = rows.data_ptr<uint8_t>();
  for (int64_t i = 0; i < levels; ++i) {
    const auto rgb = colour(map, static_cast<double>(i) / (levels - 1));
    std::copy(rgb.begin(), rgb.end(), bytes + 3 * i);
  }
  return rows;
}

/// Position in the range, 0 to 1; the middle where the range is empty.
Tensor position(const Tensor& image, Range range) {
  const auto x = image.detach().to(at::kCPU, at::kDouble);
  if (!(range.high > range.low)) return at::where(x.isnan(), x, at::full_like(x, 0.5));
  return ((x - range.low) / (range.high - range.low)).clamp(0, 1);
}

Tensor finite_values(const std::vector<Tensor>& images) {
  std::vector<Tensor> values;
  for (const auto& image : images) {
    const auto x = image.detach().to(at::kCPU, at::kDouble).flatten();
    values.push_back(x.masked_select(x.isfinite()));
  }
  return values.empty() ? at::empty({0}, at::kDouble) : at::cat(values);
}

}  // namespace

Colour colour(Colormap map, double t) {
  const auto x = std::clamp(t, 0.0, 1.0);
  if (map == Colormap::gray) {
    const auto byte = static_cast<uint8_t>(std::lround(255 * x));
    return {byte, byte, byte};
  }
  const auto points = anchors(map);
  const auto at = x * static_cast<double>(points.size() - 1);
  const auto i = std::min(static_cast<size_t>(at), points.size() - 2);
  const auto mix = [&](auto coordinate) {
    return std::lerp(coordinate(points[i]), coordinate(points[i + 1]), at - static_cast<double>(i));
  };
  const auto radians = [](const Anchor& p) { return p.hue_degrees * std::numbers::pi / 180; };
  return from_oklab(mix([](const Anchor& p) { return p.lightness; }),
                    mix([&](const Anchor& p) { return p.chroma * std::cos(radians(p)); }),
                    mix([&](const Anchor& p) { return p.chroma * std::sin(radians(p)); }));
}

Tensor colorize(const Tensor& image, Range range, Colormap map, Colour nan) {
  if (image.dim() != 2) input_error("colour map: expected an image [H, W], found {}", describe(image.sizes()));
  const auto t = position(image, range);
  const auto missing = t.isnan();
  const auto index = (at::where(missing, at::zeros_like(t), t) * (levels - 1)).round().to(at::kLong);
  auto rgb = table(map).index_select(0, index.flatten()).reshape({image.size(0), image.size(1), 3}).permute({2, 0, 1});
  auto bytes = rgb.contiguous();
  for (int64_t channel = 0; channel < 3; ++channel) bytes[channel].masked_fill_(missing, nan[channel]);
  return bytes;
}

bool shown_as_rgb(const Tensor& image, Colormap map) {
  return image.dim() == 3 && image.size(0) == 3 && (map == Colormap::gray || map == Colormap::ember);
}

Tensor picture_bytes(const Tensor& image, Range range, Colormap map, Colour nan) {
  if (image.dim() == 2) return colorize(image, range, map, nan);
  if (image.dim() != 3) input_error("picture: expected [H, W] or [C, H, W], found {}", describe(image.sizes()));
  std::vector<Tensor> parts;
  const auto rgb = shown_as_rgb(image, map);
  for (int64_t channel = 0; channel < image.size(0); ++channel) {
    const auto bytes = colorize(image[channel], range, rgb ? Colormap::gray : map, nan);
    parts.push_back(rgb ? bytes.narrow(0, channel, 1) : bytes);
  }
  return at::cat(parts, rgb ? 0 : 2).contiguous();
}

Range range_of(const std::vector<Tensor>& images, double outside) {
  const auto values = finite_values(images);
  const auto count = values.numel();
  if (count == 0) return {};
  const auto skip = static_cast<int64_t>(outside * static_cast<double>(count));
  const auto sorted = std::get<0>(values.sort());
  return {sorted[skip].item<double>(), sorted[count - 1 - skip].item<double>()};
}

Range symmetric_range(const Tensor& image) {
  const auto values = finite_values({image});
  const auto largest = values.numel() == 0 ? 1.0 : values.abs().max().item<double>();
  return {-largest, largest};
}

}  // namespace penumbra::report
