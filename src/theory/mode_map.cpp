#include "theory/mode_map.h"

#include <ATen/ATen.h>

#include <cmath>

namespace penumbra::theory {
namespace {

constexpr int most_steps = 300;
constexpr double settled = 1e-7;  // of the first score's norm

double scalar_product(const Tensor& a, const Tensor& b) { return (a * b).sum().item<double>(); }

/// Climbs by Barzilai and Borwein's steps (IMA J. Numer. Anal. 8, 1988): the last step's curvature is the next one's
/// scale, so that no step size has to be known.
Tensor climb(const ScoreField& score, const Tensor& start, double reach, int64_t& evaluations) {
  const auto at_point = [&](const Tensor& x) {
    ++evaluations;
    return score(x.unsqueeze(0)).to(at::kCPU, at::kDouble)[0];
  };
  auto x = start;
  auto g = at_point(x);
  const double first = g.norm().item<double>();
  if (!(first > 0) || !std::isfinite(first)) return {};
  double step = 1e-3 * reach / first;
  auto best = x;
  double least = first;
  for (int k = 0; k < most_steps && least > settled * first; ++k) {
    // A step along a soft direction can overshoot along a stiff one, but not out of the mode.
    while ((x + step * g - start).norm().item<double>() > reach && step * g.norm().item<double>() > 1e-9 * reach)
      step /= 4;
    const auto next = x + step * g;
    const auto there = at_point(next);
    const auto moved = next - x, bent = g - there;
    const double curvature = scalar_product(moved, bent), size = there.norm().item<double>();
    if (!std::isfinite(size)) return {};
    if (curvature > 0) step = scalar_product(moved, moved) / curvature;
    x = next, g = there;
    if (size < least) best = x, least = size;
  }
  // Where the slope is still there, so is the way: the mode's top lies elsewhere.
  if (least > 0.1 * first) return {};
  return best;
}

/// log(sd2 / sd1), drawn to its mean over the pixels by the share of its variance that the sampling error alone would
/// make: what is noise in the scales is lost overlap.
std::optional<Tensor> shrunk_log_scale(const ModeSamples& first, const ModeSamples& second) {
  const auto known = first.sd.gt(0).logical_and(second.sd.gt(0));
  const auto log_scale = at::where(known, (second.sd / first.sd).log(), at::zeros_like(first.sd));
  const double noise = 0.5 / static_cast<double>(first.x.size(0) - 1) + 0.5 / static_cast<double>(second.x.size(0) - 1);
  const auto mean = log_scale.mean();
  const double spread = (log_scale - mean).square().mean().item<double>();
  const double share = spread > noise ? 1 - noise / spread : 0;
  const double mean_error = std::sqrt(noise / static_cast<double>(log_scale.numel()));
  if (share == 0 && std::abs(mean.item<double>()) < 4 * mean_error) return std::nullopt;
  return mean + share * (log_scale - mean);
}

/// x - centre, with x left out of a centre that is the mean of `count`.
Tensor from_centre(const Tensor& x, const Tensor& centre, int64_t count) {
  const auto d = x - centre;
  return count > 1 ? d * (static_cast<double>(count) / static_cast<double>(count - 1)) : d;
}

}  // namespace

double ModeSamples::reach() const { return sd.norm().item<double>(); }

ModeSamples describe_samples(const Tensor& x, const ScoreField& score) {
  ModeSamples mode;
  mode.x = x;
  mode.mean = x.mean(0);
  mode.sd = x.std(0, /*unbiased=*/true);
  if (mode.reach() > 0) mode.summit = climb(score, mode.mean, mode.reach(), mode.evaluations);
  return mode;
}

bool same_summit(const ModeSamples& a, const ModeSamples& b) {
  if (!a.summit.defined() || !b.summit.defined()) return false;
  // A climb ends within 1e-7 of its first slope; modes are apart by several SDs.
  return (a.summit - b.summit).norm().item<double>() < 0.01 * std::min(a.reach(), b.reach());
}

ModeSamples joined(const ModeSamples& a, const ModeSamples& b) {
  const auto x = at::cat({a.x, b.x});
  return {x, x.mean(0), x.std(0, /*unbiased=*/true), a.summit, a.evaluations + b.evaluations};
}

std::string name(MapKind kind) {
  switch (kind) {
    case MapKind::summits:
      return "translation";
    case MapKind::means:
      return "translation of means";
    case MapKind::scaling:
      return "scaling";
    case MapKind::turn:
      return "half turn";
  }
  return "";
}

double ModeMap::log_volume() const { return scale.log().sum().item<double>(); }

Tensor ModeMap::forward(const Tensor& x) const {
  return turn ? turn(x) : second + scale * from_centre(x, first, first_count);
}

Tensor ModeMap::backward(const Tensor& x) const {
  return turn ? turn(x) : first + from_centre(x, second, second_count) / scale;
}

std::optional<ModeMap> make_map(MapKind kind, const ModeSamples& first, const ModeSamples& second, const Turn& turn) {
  if (kind == MapKind::turn && !turn) return std::nullopt;
  const bool summits = first.summit.defined() && second.summit.defined();
  if (kind == MapKind::summits && !summits) return std::nullopt;
  ModeMap map{.kind = kind, .first = first.mean, .second = second.mean, .scale = at::ones_like(first.mean)};
  if (kind == MapKind::turn) {
    map.turn = turn;
    return map;
  }
  if (kind == MapKind::means || !summits)
    map.first_count = first.x.size(0), map.second_count = second.x.size(0);
  else
    map.first = first.summit, map.second = second.summit;
  if (kind != MapKind::scaling) return map;
  const auto log_scale = shrunk_log_scale(first, second);
  if (!log_scale) return std::nullopt;
  map.scale = log_scale->exp();
  return map;
}

}  // namespace penumbra::theory
