#include "training/augment.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>
#include <vector>

namespace penumbra::training {
namespace {

/// What each of an image's random numbers is for. New ones go to the end: the others keep their values.
enum Draw : int64_t { horizontal, vertical, keep, angle, size, right, down, lean, light, contrast, curve, draw_count };

/// An image's numbers in (0, 1).
class Draws {
 public:
  Draws(const Cursor& at, int64_t images)
      : numbers_(uniform(at, Stream::augmentation,
                         at::empty({images, draw_count}, at::TensorOptions().dtype(at::kDouble)))) {}

  double unit(int64_t image, Draw which) const { return numbers_.data_ptr<double>()[image * draw_count + which]; }
  /// In (-1, 1).
  double both_ways(int64_t image, Draw which) const { return 2 * unit(image, which) - 1; }
  double factor(int64_t image, Draw which, double spread) const {
    return std::pow(1 + spread, both_ways(image, which));
  }
  /// f(image) for every image, shaped to be broadcast over `images`.
  template <typename F>
  Tensor each(const Tensor& images, F f) const {
    auto values = at::empty({images.size(0), 1, 1, 1}, at::TensorOptions().dtype(at::kDouble));
    for (int64_t i = 0; i < images.size(0); ++i) values.data_ptr<double>()[i] = f(i);
    return values.to(images.device(), images.scalar_type());
  }

 private:
  Tensor numbers_;
};

Tensor flipped(const Tensor& images, const Draws& draws, double probability, Draw which, int64_t dimension) {
  if (probability <= 0) return images;
  const auto mask = draws.each(images, [&](int64_t i) { return draws.unit(i, which) < probability; });
  return at::where(mask != 0, images.flip(dimension), images);
}

bool warps(const AugmentOptions& options) {
  return options.rotation > 0 || options.shear > 0 || options.scale > 0 || options.translation > 0;
}

/// Only the rows that are warped pass through the interpolation: the others keep their bits.
Tensor warped(const Tensor& images, const Draws& draws, const AugmentOptions& options) {
  std::vector<int64_t> rows;
  std::vector<Tensor> maps;
  for (int64_t i = 0; i < images.size(0); ++i) {
    if (draws.unit(i, keep) < options.unwarped) continue;
    const auto shift = [&](Draw which, int64_t extent) {
      return options.translation * static_cast<double>(extent) * draws.both_ways(i, which);
    };
    const Affine affine{.rotation = options.rotation * draws.both_ways(i, angle),
                        .scale = draws.factor(i, size, options.scale),
                        .shear = options.shear * draws.both_ways(i, lean),
                        .right = shift(right, images.size(3)),
                        .down = shift(down, images.size(2))};
    rows.push_back(i);
    maps.push_back(affine.inverse());
  }
  if (rows.empty()) return images;
  const auto places = at::tensor(rows, at::kLong).to(images.device());
  return images.index_copy(0, places, warp(images.index_select(0, places), at::stack(maps), options.warp));
}

Tensor with_intensities(Tensor images, const Draws& draws, const AugmentOptions& options) {
  const auto [low, span] = std::pair(options.low, options.high - options.low);
  if (options.gamma > 0) {
    const auto exponent = draws.each(images, [&](int64_t i) { return draws.factor(i, curve, options.gamma); });
    images = low + span * ((images - low) / span).clamp(0, 1).pow(exponent);
  }
  if (options.contrast > 0) {
    const auto factor = draws.each(images, [&](int64_t i) { return draws.factor(i, contrast, options.contrast); });
    const auto middle = low + span / 2;
    images = middle + (images - middle) * factor;
  }
  if (options.brightness > 0)
    images =
        images + draws.each(images, [&](int64_t i) { return options.brightness * span * draws.both_ways(i, light); });
  return images;
}

void read_border(Settings& section, WarpOptions& warp) {
  if (section.is_number("border")) {
    warp.border = Border::constant;
    warp.fill = section.number("border");
    return;
  }
  const auto word = section.choice("border", {"reflect", "edge"}, "reflect");
  warp.border = word == "reflect" ? Border::reflect : Border::edge;
}

}  // namespace

AugmentOptions augment_setting(Settings section, double low, double high) {
  AugmentOptions options{.low = low, .high = high};
  constexpr Bounds share{0, 1};
  const bool enabled = section.flag("enabled", true);
  options.horizontal_flip = section.number("horizontal_flip", 0.5, share);
  options.vertical_flip = section.number("vertical_flip", 0, share);
  options.unwarped = section.number("unwarped", 0.5, share);
  options.rotation = section.number("rotation", 5, {0, 180});
  options.scale = section.number("scale", 0.05, share);
  options.translation = section.number("translation", 0.05, share);
  options.shear = section.number("shear", 0, {0, 45});
  const auto words = std::vector<std::string>{"bicubic", "bilinear"};
  options.warp.interpolation = section.choice("interpolation", words, words.front()) == words.front()
                                   ? Interpolation::bicubic
                                   : Interpolation::bilinear;
  read_border(section, options.warp);
  options.brightness = section.number("brightness", 0, share);
  options.contrast = section.number("contrast", 0, share);
  options.gamma = section.number("gamma", 0, share);
  return enabled ? options : AugmentOptions{.low = low, .high = high};
}

Tensor augment(const Tensor& images, const AugmentOptions& options, const Cursor& at) {
  const Draws draws(at, images.size(0));
  auto x = flipped(images, draws, options.horizontal_flip, horizontal, 3);
  x = flipped(x, draws, options.vertical_flip, vertical, 2);
  if (warps(options)) x = warped(x, draws, options);
  return with_intensities(x, draws, options).clamp(options.low, options.high);
}

}  // namespace penumbra::training
