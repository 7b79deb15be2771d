#include "models/sampling_mask.h"

#include <ATen/ATen.h>

#include "core/error.h"
#include "models/random_order.h"

namespace penumbra {
namespace {

Tensor empty_mask(int64_t height, int64_t width) {
  return at::zeros({height, width}, at::TensorOptions().dtype(at::kBool));
}

std::vector<int64_t> shuffled(int64_t count, uint64_t seed) {
  const auto order = random_order(count, {seed, 0, 0}).contiguous();
  return {order.data_ptr<int64_t>(), order.data_ptr<int64_t>() + count};
}

/// Accepts the points in the given order, each unless it lies within the radius of an accepted one.
class Discs {
 public:
  Discs(int64_t height, int64_t width, bool variable_density, std::vector<int64_t> order)
      : height_(height), width_(width), order_(std::move(order)), reach_(static_cast<size_t>(height * width), 1.0) {
    for (int64_t i = 0; variable_density && i < height * width; ++i) {
      const double y = static_cast<double>(i / width - height / 2) / (static_cast<double>(height) / 2),
                   x = static_cast<double>(i % width - width / 2) / (static_cast<double>(width) / 2);
      reach_[static_cast<size_t>(i)] = 0.3 + std::sqrt(x * x + y * y);
    }
  }

  /// Accepted points in their order; the radius of a point is `radius` times its reach.
  std::vector<int64_t> accept(double radius) const {
    std::vector<char> blocked(reach_.size(), 0);
    std::vector<int64_t> accepted;
    for (const auto point : order_) {
      if (blocked[static_cast<size_t>(point)]) continue;
      accepted.push_back(point);
      block(blocked, point, radius * reach_[static_cast<size_t>(point)]);
    }
    return accepted;
  }

 private:
  /// Discs hardly overlap, so that all of them together cost one pass over the points, whatever the radius.
  void block(std::vector<char>& blocked, int64_t point, double r) const {
    const auto row = point / width_, column = point % width_, span = static_cast<int64_t>(std::ceil(r)) - 1;
    for (auto y = std::max<int64_t>(0, row - span); y <= std::min(height_ - 1, row + span); ++y)
      for (auto x = std::max<int64_t>(0, column - span); x <= std::min(width_ - 1, column + span); ++x)
        if (static_cast<double>((y - row) * (y - row) + (x - column) * (x - column)) < r * r)
          blocked[static_cast<size_t>(y * width_ + x)] = 1;
  }

  int64_t height_, width_;
  std::vector<int64_t> order_;
  std::vector<double> reach_;
};

}  // namespace

Tensor radial_mask(int64_t height, int64_t width, int64_t lines) {
  auto mask = empty_mask(height, width);
  auto points = mask.accessor<bool, 2>();
  // Rows and columns counted from 1, as the official code has them: it decides where halves are rounded to.
  const auto cy = static_cast<double>(height / 2 + 1), cx = static_cast<double>(width / 2 + 1);
  const double h = static_cast<double>(height) / 2, w = static_cast<double>(width) / 2;
  const auto R = static_cast<int64_t>(std::ceil(std::sqrt(h * h + w * w)));
  for (int64_t line = 0; line < lines; ++line) {
    const double angle = static_cast<double>(line) * M_PI / static_cast<double>(lines);
    for (int64_t r = -R; r <= R; ++r) {
      const auto column = static_cast<int64_t>(std::round(cx + static_cast<double>(r) * std::cos(angle))) - 1,
                 row = static_cast<int64_t>(std::round(cy + static_cast<double>(r) * std::sin(angle))) - 1;
      if (row >= 0 && row < height && column >= 0 && column < width) points[row][column] = true;
    }
  }
  return mask;
}

Tensor random_lines(int64_t size, int64_t centre, double acceleration, uint64_t seed) {
  auto lines = at::zeros({size}, at::TensorOptions().dtype(at::kBool));
  around_centre(lines, 0, centre).fill_(true);
  auto left = std::lround(static_cast<double>(size) / acceleration) - centre;
  auto chosen = lines.accessor<bool, 1>();
  for (const auto line : shuffled(size, seed)) {
    if (left <= 0) break;
    if (chosen[line]) continue;
    chosen[line] = true;
    --left;
  }
  return lines;
}

Tensor poisson_disc_mask(int64_t height, int64_t width, const PoissonDisc& options) {
  const auto count = height * width, wanted = std::lround(static_cast<double>(count) / options.acceleration);
  const auto centre = [&] {
    auto mask = empty_mask(height, width);
    around_centre(around_centre(mask, 0, std::min(options.calibration, height)), 1,
                  std::min(options.calibration, width))
        .fill_(true);
    return mask;
  }();
  const Discs discs(height, width, options.variable_density, shuffled(count, options.seed));
  const auto outside = [&](const std::vector<int64_t>& points) {
    std::vector<int64_t> kept;
    const auto* inside = centre.data_ptr<bool>();
    std::copy_if(points.begin(), points.end(), std::back_inserter(kept), [&](int64_t point) { return !inside[point]; });
    return kept;
  };
  const auto missing = static_cast<size_t>(std::max<int64_t>(0, wanted - centre.sum().item<int64_t>()));
  // The largest radius that still leaves room for enough points; on a grid their number jumps with the radius, so what
  // is too many is left out, the last accepted first: no two come nearer by that.
  double low = 0, high = static_cast<double>(std::max(height, width));
  for (int halving = 0; halving < 24; ++halving) {
    const double radius = (low + high) / 2;
    (outside(discs.accept(radius)).size() >= missing ? low : high) = radius;
  }
  auto points = outside(discs.accept(low));
  points.resize(std::min(points.size(), missing));
  auto mask = centre.clone();
  for (const auto point : points) mask.data_ptr<bool>()[point] = true;
  return mask;
}

std::pair<int64_t, int64_t> sampled_centre(const Tensor& mask) {
  const auto height = mask.size(0), width = mask.size(1);
  std::pair<int64_t, int64_t> best{0, 0};
  for (int64_t h = 1; h <= height; ++h) {
    const auto columns = around_centre(mask, 0, h).all(0).contiguous();
    const auto* sampled = columns.data_ptr<bool>();
    int64_t w = 0;  // grows to the left at even extents, to the right at odd ones
    while (w < width && sampled[w % 2 == 0 ? width / 2 + w / 2 : width / 2 - (w + 1) / 2]) ++w;
    if (w == 0) break;
    const auto rank = [](int64_t a, int64_t b) { return std::pair(std::min(a, b), a * b); };
    if (rank(h, w) > rank(best.first, best.second)) best = {h, w};
  }
  return best;
}

Tensor around_centre(const Tensor& x, int64_t dim, int64_t size) {
  return x.narrow(dim, x.size(dim) / 2 - size / 2, size);
}

}  // namespace penumbra
