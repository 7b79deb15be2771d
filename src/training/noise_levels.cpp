#include "training/noise_levels.h"

#include <ATen/ATen.h>

#include "networks/header.h"

namespace penumbra::training {
namespace {

double normal_cdf(double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); }

}  // namespace

Tensor NoiseLevels::operator()(const Tensor& uniform) const {
  const double from = std::log(low), to = std::log(high);
  const auto u = uniform.to(at::kDouble);
  if (kind == Kind::log_uniform) return (from + (to - from) * u).exp();
  // The first share of the unit interval is log-uniform, the rest the normal law cut off at both ends.
  const auto share = (u / std::max(uniform_share, 1e-12)).clamp(0, 1);
  const auto rest = ((u - uniform_share) / (1 - uniform_share)).clamp(0, 1);
  const double centre = std::log(median);
  const double a = normal_cdf((from - centre) / spread), b = normal_cdf((to - centre) / spread);
  const auto z = std::sqrt(2.0) * at::erfinv(2 * (a + (b - a) * rest) - 1);
  const auto narrow = (centre + spread * z).clamp(from, to);
  return at::where(u < uniform_share, from + (to - from) * share, narrow).exp();
}

std::vector<double> NoiseLevels::bands(int64_t count) const {
  std::vector<double> edges;
  for (int64_t i = 0; i <= count; ++i)
    edges.push_back(low * std::pow(high / low, static_cast<double>(i) / static_cast<double>(count)));
  return edges;
}

NoiseLevels noise_levels_setting(Settings section) {
  NoiseLevels levels;
  levels.kind = section.choice("kind", {"log_normal", "log_uniform"}, "log_normal") == "log_uniform"
                    ? NoiseLevels::Kind::log_uniform
                    : NoiseLevels::Kind::log_normal;
  // What a prior's header may state.
  levels.low = section.number("low", levels.low, {smallest_sigma, largest_sigma});
  levels.high = section.number("high", levels.high, {smallest_sigma, largest_sigma});
  if (!(levels.low < levels.high)) section.fail("high", fmt::format("expected more than low = {:g}", levels.low));
  if (levels.kind == NoiseLevels::Kind::log_normal) {
    const double median = std::clamp(levels.median, levels.low, levels.high);
    levels.median = section.number("median", median, {levels.low, levels.high});
    levels.spread = section.number("spread", levels.spread, positive);
    levels.uniform_share = section.number("uniform_share", levels.uniform_share, {0, 0.99});
  }
  return levels;
}

}  // namespace penumbra::training
