#include "theory/relaxation.h"

#include <ATen/ATen.h>

#include <cmath>

#include "core/random.h"

namespace penumbra::theory {
namespace {

Tensor score_of(const ScoreField& score, const Tensor& x, int64_t batch, int64_t& evaluations) {
  std::vector<Tensor> parts;
  for (const auto& part : x.split(batch)) parts.push_back(score(part).to(at::kCPU, at::kDouble));
  evaluations += x.size(0);
  return at::cat(parts);
}

/// The largest curvature of -log pi at `centre`: power iteration on differences of the score over `distance`.
double largest_curvature(const ScoreField& score, const Tensor& centre, double distance, uint64_t seed,
                         int64_t& evaluations) {
  const auto at_point = [&](const Tensor& x) { return score_of(score, x.unsqueeze(0), 1, evaluations)[0]; };
  const auto here = at_point(centre);
  auto v = normal({seed, 0, 0}, Stream::probe, centre.unsqueeze(0))[0];
  double curvature = 0;
  for (int k = 0; k < 30; ++k) {
    v = v / v.norm();
    v = (here - at_point(centre + distance * v)) / distance;
    curvature = v.norm().item<double>();
    if (!(curvature > 0) || !std::isfinite(curvature)) return 0;
  }
  return curvature;
}

}  // namespace

Relaxed relax(const ScoreField& score, const Tensor& x, const RelaxationOptions& options) {
  Relaxed result;
  result.x = x;
  const double reach = x.std(0, /*unbiased=*/true).norm().item<double>();  // sqrt(tr C)
  if (!(reach > 0)) return result;
  const auto mean = x.mean(0);
  result.curvature = largest_curvature(score, mean, 1e-3 * reach, options.seed, result.evaluations);
  if (!(result.curvature > 0)) return result;
  auto moving = x;
  for (int64_t k = 0; k < options.steps; ++k) {
    const double done = static_cast<double>(k) / static_cast<double>(std::max<int64_t>(1, options.steps - 1));
    const double gamma = options.first * std::pow(options.last / options.first, done) / result.curvature;
    moving = moving + gamma * score_of(score, moving, options.batch, result.evaluations) +
             std::sqrt(2 * gamma) * normal({options.seed, 0, k}, Stream::churn, moving);
  }
  // Samples that are too wide shrink; a few near to each other, of a part of a mode, spread over all of it.
  const auto farthest = [&](const Tensor& from) { return flat(from - mean).norm(2, 1).max().item<double>(); };
  result.moved = farthest(moving) <= 5 * farthest(x);
  if (result.moved) result.x = moving;
  return result;
}

}  // namespace penumbra::theory
