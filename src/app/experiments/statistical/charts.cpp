#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>

#include "app/experiments/statistical/figures.h"

namespace penumbra::app::statistical {
namespace {

std::vector<double> numbers(const Tensor& x) {
  const auto values = x.to(at::kDouble).contiguous();
  return {values.data_ptr<double>(), values.data_ptr<double>() + values.numel()};
}

/// N(mean, sd^2) over [-reach, reach].
report::Series normal_curve(const std::string& name, double mean, double sd, double reach) {
  report::Series series{.name = name};
  for (int i = 0; i <= 200; ++i) {
    const double t = reach * (i / 100.0 - 1);
    series.x.push_back(t);
    series.y.push_back(std::exp(-0.5 * std::pow((t - mean) / sd, 2)) / (sd * std::sqrt(2 * M_PI)));
  }
  return series;
}

report::Series as_density(report::Series bars) {
  double total = 0;
  for (const double count : bars.y) total += count;
  for (size_t i = 0; i < bars.y.size(); ++i) bars.y[i] /= total * (bars.x[i + 1] - bars.x[i]);
  return bars;
}

}  // namespace

report::Chart share_chart(const Results& results, const Comparison& comparison) {
  const auto position = numbers(axis_position(results.laws.exact, comparison.samples.x));
  // Both modes lie in the middle of a bar, and are narrower than one.
  constexpr int bins = 21;
  constexpr double low = -0.55, width = 0.1;
  report::Series sampled{.name = "chains", .mark = report::Mark::bars}, exact{.name = "exact", .dashed = true};
  for (int i = 0; i <= bins; ++i) sampled.x.push_back(low + i * width);
  sampled.y.assign(bins, 0);
  for (const double t : position) {
    const auto bin = static_cast<int>((t - low) / width);
    if (bin >= 0 && bin < bins) sampled.y[static_cast<size_t>(bin)] += 1 / static_cast<double>(position.size());
  }
  for (size_t j = 0; j < 2; ++j) {
    const double left = low + width * std::floor((static_cast<double>(j) - low) / width), w = results.setting.weight(j);
    exact.x.insert(exact.x.end(), {left, left, left + width, left + width, NAN});
    exact.y.insert(exact.y.end(), {0, w, w, 0, NAN});
  }
  return {.title = comparison.algorithm.name + ": shares",
          .x = {.label = "position between the exact modes", .low = low, .high = low + bins * width},
          .y = {.label = "share", .low = 0, .high = 1},
          .series = {sampled, exact},
          .width = 400,
          .height = 260};
}

report::Chart profile_chart(const Results& results, const Comparison& comparison) {
  const auto& exact = results.laws.exact;
  const auto& law = results.laws.stationary.at(comparison.algorithm.discretization);
  const size_t mode = comparison.modes[0].count >= comparison.modes[1].count ? 0 : 1;
  const auto d = exact.means[1] - exact.means[0];
  const double unit = std::sqrt(d.dot(exact.covariance.mv(d)).item<double>());
  const auto second = axis_position(exact, comparison.samples.x) > 0.5;
  const auto chains = comparison.samples.x.index({mode == 1 ? second : second.logical_not()});
  const double law_mean = d.dot(law.means[mode] - exact.means[mode]).item<double>() / unit;
  const double law_sd = std::sqrt(d.dot(law.covariance.mv(d)).item<double>()) / unit;
  const double reach = 4 * std::max(law_sd, 1.0) + std::abs(law_mean);
  return {.title = fmt::format("{}: inside mode {}", comparison.algorithm.name, mode + 1),
          .x = {.label = "offset along the axis (exact SDs)"},
          .y = {.label = "density", .low = 0},
          .series = {as_density(report::histogram("chains", numbers((chains - exact.means[mode]).mv(d) / unit), 24)),
                     normal_curve("exact", 0, 1, reach), normal_curve("law of the step", law_mean, law_sd, reach)},
          .width = 400,
          .height = 260};
}

}  // namespace penumbra::app::statistical
