#include "diagnostics/bisection.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/random.h"

namespace penumbra::diagnostics {
namespace {

constexpr double kept_variance = 0.9;
constexpr int64_t most_axes = 10, points_per_axis = 10, random_starts = 4;
constexpr int64_t most_turned = 200;
constexpr int most_rounds = 100;

struct Points {
  const double* value;
  int64_t count, axes;
  const double* operator[](int64_t i) const { return value + i * axes; }
};

struct Parting {
  std::vector<int64_t> part;
  std::vector<double> centre[2];
  int64_t size[2] = {0, 0};
  double within = std::numeric_limits<double>::infinity();  ///< sum of squared distances from the centres
};

double squared_distance(const double* x, const std::vector<double>& c) {
  double sum = 0;
  for (size_t j = 0; j < c.size(); ++j) sum += (x[j] - c[j]) * (x[j] - c[j]);
  return sum;
}

void find_centres(const Points& x, Parting& parting) {
  for (int side : {0, 1}) parting.centre[side].assign(x.axes, 0), parting.size[side] = 0;
  for (int64_t i = 0; i < x.count; ++i) {
    const auto side = parting.part[i];
    ++parting.size[side];
    for (int64_t j = 0; j < x.axes; ++j) parting.centre[side][j] += x[i][j];
  }
  for (int side : {0, 1})
    for (auto& c : parting.centre[side]) c /= static_cast<double>(std::max<int64_t>(parting.size[side], 1));
}

/// Lloyd's iteration from a first parting.
Parting two_means(const Points& x, std::vector<int64_t> start) {
  Parting parting;
  parting.part = std::move(start);
  for (int round = 0; round < most_rounds; ++round) {
    find_centres(x, parting);
    if (parting.size[0] == 0 || parting.size[1] == 0) return parting;
    bool changed = false;
    parting.within = 0;
    for (int64_t i = 0; i < x.count; ++i) {
      const auto near = squared_distance(x[i], parting.centre[0]), far = squared_distance(x[i], parting.centre[1]);
      const int64_t side = far < near ? 1 : 0;
      changed |= side != parting.part[i];
      parting.part[i] = side;
      parting.within += std::min(near, far);
    }
    if (!changed) break;
  }
  return parting;
}

/// At the mean of each axis, and nearer to one or the other of two points.
std::vector<std::vector<int64_t>> starts(const Points& x, const Tensor& chosen) {
  std::vector<std::vector<int64_t>> all;
  for (int64_t axis = 0; axis < x.axes; ++axis) {
    auto& start = all.emplace_back(x.count);
    for (int64_t i = 0; i < x.count; ++i) start[i] = x[i][axis] > 0 ? 1 : 0;
  }
  const auto* share = chosen.data_ptr<double>();
  const auto pick = [&](int64_t k) { return static_cast<int64_t>(share[k] * static_cast<double>(x.count)); };
  for (int64_t k = 0; k < random_starts; ++k) {
    const std::vector<double> a(x[pick(2 * k)], x[pick(2 * k)] + x.axes),
        b(x[pick(2 * k + 1)], x[pick(2 * k + 1)] + x.axes);
    auto& start = all.emplace_back(x.count);
    for (int64_t i = 0; i < x.count; ++i) start[i] = squared_distance(x[i], b) < squared_distance(x[i], a) ? 1 : 0;
  }
  return all;
}

/// D, see the header.
double distance_in_sd(const Points& x, const Parting& parting) {
  std::vector<double> axis(x.axes);
  double length2 = 0;
  for (int64_t j = 0; j < x.axes; ++j) {
    axis[j] = parting.centre[1][j] - parting.centre[0][j];
    length2 += axis[j] * axis[j];
  }
  double sum = 0;
  for (int64_t i = 0; i < x.count; ++i) {
    double along = 0;
    for (int64_t j = 0; j < x.axes; ++j) along += axis[j] * (x[i][j] - parting.centre[parting.part[i]][j]);
    sum += along * along;
  }
  return length2 / std::sqrt(sum / static_cast<double>(x.count - 2));
}

/// The tightest parting with enough points on both sides; `at.k` makes the random starts differ.
Bisection tightest(const Tensor& points, const Cursor& at, int64_t least_points) {
  const Points x{points.data_ptr<double>(), points.size(0), points.size(1)};
  const auto chosen = uniform(at, Stream::resample, at::empty({1, 2 * random_starts}, at::kDouble));
  Parting best;
  for (auto& start : starts(x, chosen)) {
    auto parting = two_means(x, std::move(start));
    if (std::min(parting.size[0], parting.size[1]) >= least_points && parting.within < best.within)
      best = std::move(parting);
  }
  if (!std::isfinite(best.within)) return {};
  find_centres(x, best);
  return {best.part, distance_in_sd(x, best), {}, false};
}

/// Coordinates along all principal axes that have a length, the longest first.
Tensor principal_coordinates(const Tensor& x) {
  const auto centred = x - x.mean(0, true);
  const bool few_pixels = x.size(1) < x.size(0);
  // The smaller of the products: of pixels, or of images.
  const auto [ascending, vectors] =
      at::linalg_eigh(few_pixels ? centred.t().matmul(centred) : centred.matmul(centred.t()));
  const auto values = ascending.flip(0).clamp_min(0);
  const auto rank = (values > 1e-12 * values[0]).sum().item<int64_t>();
  const auto leading = vectors.flip(1).narrow(1, 0, rank);
  return few_pixels ? centred.matmul(leading) : leading * values.narrow(0, 0, rank).sqrt().unsqueeze(0);
}

int64_t axes_to_keep(const Tensor& coordinates) {
  const auto variance = coordinates.square().sum(0);
  const auto all = variance.sum().item<double>();
  const auto needed = (variance.cumsum(0) < kept_variance * all).sum().item<int64_t>() + 1;
  const auto count = coordinates.size(0);
  return std::min({needed, most_axes, std::max<int64_t>(2, count / points_per_axis), coordinates.size(1)});
}

/// A Gaussian cloud with these SDs, turned to its own principal axes: the longest of a small cloud are flatter than a
/// Gaussian, because they were chosen. Where there are many points that no longer matters, and would take too long.
Tensor simulated_cloud(const Tensor& sd, int64_t count, int64_t axes, const Cursor& at) {
  const bool turn = count <= most_turned;
  const auto kept = turn ? sd : sd.narrow(0, 0, axes);
  const auto x = kept * normal(at, Stream::resample, at::empty({count, kept.size(0)}, at::kDouble));
  return (turn ? principal_coordinates(x).slice(1, 0, axes) : x - x.mean(0, true)).contiguous();
}

}  // namespace

Bisection bisect(const Tensor& images, uint64_t seed, const BisectionOptions& options) {
  const auto count = images.size(0);
  if (count < 2 * options.least_points) return {};
  const auto coordinates = principal_coordinates(images.detach().to(at::kCPU, at::kDouble).flatten(1));
  if (coordinates.size(1) == 0) return {};  // all images are the same
  const auto axes = axes_to_keep(coordinates);
  auto found = tightest(coordinates.narrow(1, 0, axes).contiguous(), {seed, 0, 0}, options.least_points);
  if (!(found.distance >= options.least_distance)) return found;
  const auto sd = coordinates.std(0, true);
  const auto most_as_far = options.level * static_cast<double>(options.simulations + 1);
  int64_t as_far = 1, clouds = 1;  // this one counts as one of them
  for (; clouds <= options.simulations && static_cast<double>(as_far) <= most_as_far; ++clouds) {
    // First chain 1: the streams of starts and points must not meet.
    const auto cloud = simulated_cloud(sd, count, axes, {seed, 1, clouds});
    if (tightest(cloud, {seed, 0, clouds}, options.least_points).distance >= found.distance) ++as_far;
  }
  found.p_value = static_cast<double>(as_far) / static_cast<double>(clouds);
  found.two = *found.p_value <= options.level;
  return found;
}

}  // namespace penumbra::diagnostics
