#include "diagnostics/calibration.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "diagnostics/rank_histogram.h"

namespace penumbra::diagnostics {
namespace {

constexpr double absent = std::numeric_limits<double>::quiet_NaN();

struct Share {
  double mean, error;
};

/// The mean of hits [simulations, statistics] and its standard error: statistics of one simulation hang together, so
/// simulations are the independent unit. At least the binomial error of independent hits with probability p, for a
/// handful of simulations can agree by chance.
Share share(const Tensor& hits, double p) {
  const auto N = hits.size(0), S = hits.size(1);
  const auto each = hits.to(at::kDouble).mean(1);
  const double between = N > 1 ? each.var().item<double>() : 0;
  const double least = p * (1 - p) / static_cast<double>(S);
  return {each.mean().item<double>(), std::sqrt(std::max(between, least) / static_cast<double>(N))};
}

/// inside(level): which [simulations, statistics] are in the region that claims this probability.
template <typename Inside>
CoverageCurve coverage(Inside inside) {
  constexpr int levels = 20;
  constexpr double band = 1.96;
  CoverageCurve c;
  for (int i = 0; i <= levels; ++i) {
    const double level = static_cast<double>(i) / levels;
    const auto [mean, error] = share(inside(level), level);
    c.nominal.push_back(level);
    c.measured.push_back(mean);
    c.low.push_back(std::max(0.0, level - band * error));
    c.high.push_back(std::min(1.0, level + band * error));
  }
  return c;
}

Tensor central(const Tensor& place, double level) { return (2 * place - 1).abs() < level; }

/// Everything but the histogram and its p.
StatisticCalibration of_statistic(const Tensor& place, const Tensor& z) {
  StatisticCalibration s;
  s.coverage_90 = central(place, 0.9).to(at::kDouble).mean().item<double>();
  const auto known = z.masked_select(z.isfinite());
  const bool enough = known.numel() > 1;
  s.bias = enough ? known.mean().item<double>() : absent;
  s.spread = enough ? known.std().item<double>() : absent;
  s.ratio = enough ? known.square().mean().sqrt().item<double>() : absent;
  return s;
}

std::vector<StatisticCalibration> of_statistics(const Tensor& place, const Tensor& z) {
  const auto counts = bin_counts(place).t().contiguous(), p = uniform_p(counts.t());
  std::vector<StatisticCalibration> all;
  for (int64_t i = 0; i < place.size(1); ++i) {
    auto s = of_statistic(place.select(1, i), z.select(1, i));
    const auto* bins = counts[i].data_ptr<int64_t>();
    s.histogram.assign(bins, bins + counts.size(1));
    s.p = p[i].item<double>();
    all.push_back(std::move(s));
  }
  return all;
}

}  // namespace

Standing standing(const Tensor& truth, const Tensor& draws, const Tensor& uniform) {
  const auto L = static_cast<double>(draws.size(0));
  const auto below = draws.lt(truth).sum(0).to(at::kDouble), equal = draws.eq(truth).sum(0).to(at::kDouble);
  const auto rank = below + at::minimum((uniform[0] * (equal + 1)).floor(), equal);
  const auto sd = draws.size(0) > 1 ? draws.std(0) : at::full_like(truth, absent);
  return {truth, draws.mean(0), sd, rank, (rank + uniform[1]) / (L + 1)};
}

double tarp_place(const Tensor& truth, const Tensor& draws, const Tensor& reference, double uniform) {
  const auto nearer = (draws - reference).square().sum(1).lt((truth - reference).square().sum()).sum().item<int64_t>();
  return (static_cast<double>(nearer) + uniform) / static_cast<double>(draws.size(0) + 1);
}

Tensor standardised_error(const Standing& standing, int64_t draws) {
  if (draws < 4) return at::full_like(standing.truth, absent);
  const auto L = static_cast<double>(draws);
  // The truth's distance from a mean of L draws has variance 1 + 1/L; 1 / s^2 has mean (L - 1) / (L - 3).
  const double scale = std::sqrt((L - 3) / (L - 1) / (1 + 1 / L));
  const auto z = scale * (standing.truth - standing.mean) / standing.sd;
  return at::where(standing.sd.gt(0), z, at::full_like(z, absent));
}

Calibration calibration(const Standings& standings) {
  const auto& [place, z, tarp] = standings;
  if (place.dim() != 2 || place.size(0) < 2 || place.size(1) < 1)
    input_error("calibration: expected two simulations and a statistic at least, found {}", describe(place.sizes()));
  Calibration c;
  c.simulations = place.size(0);
  c.statistics = of_statistics(place, z);
  c.allowed_uneven = diagnostics::allowed_uneven(place);
  c.intervals = coverage([&](double level) { return central(place, level); });
  c.tarp = coverage([&](double level) { return tarp.unsqueeze(1) < level; });
  c.tarp_p = uniform_p(bin_counts(tarp.unsqueeze(1))).item<double>();
  const auto ninety = share(central(place, 0.9), 0.9);
  c.coverage_90 = ninety.mean;
  c.coverage_90_error = ninety.error;
  // Every simulation counts alike; its statistics without a z (draws that do not differ) are left out.
  const auto known = z.isfinite();
  const auto squares = at::where(known, z.square(), at::zeros_like(z)).sum(1) / known.sum(1);
  const auto each = squares.masked_select(squares.isfinite());
  const auto count = static_cast<double>(each.numel());
  c.ratio = count > 0 ? std::sqrt(each.mean().item<double>()) : absent;
  c.ratio_error = count > 1 ? each.std().item<double>() / (2 * c.ratio * std::sqrt(count)) : absent;
  return c;
}

}  // namespace penumbra::diagnostics
