#include <ATen/ATen.h>

#include "app/experiments/statistical/figures.h"

namespace penumbra::app::statistical {
namespace {

using Named = std::vector<std::pair<std::string, Tensor>>;

std::vector<report::Figure> pictures(const Results& results, const Named& images, report::Colormap map) {
  std::vector<Tensor> values;
  for (const auto& [name, image] : images) values.push_back(image);
  const auto range = report::range_of(values);
  const auto side = results.setting.parameters.side;
  std::vector<report::Figure> figures;
  for (const auto& [name, image] : images)
    figures.push_back(
        report::Picture{.title = name, .image = image.reshape({side, side}), .range = range, .map = map, .bar = true});
  return figures;
}

const Tensor& part(const Moments& moments, bool sd) { return sd ? moments.sd : moments.mean; }

Moments law_moments(const ModeLaws& law, std::optional<size_t> mode, double weight) {
  return mode ? Moments{law.means[*mode], law.sd()} : overall(law, weight);
}

std::vector<report::Figure> compared(const Results& results, std::optional<size_t> mode, bool sd) {
  Named images{{"exact", part(law_moments(results.laws.exact, mode, results.setting.weight(0)), sd)}};
  for (const auto& c : results.comparisons) {
    if (mode && !c.modes[*mode].known()) continue;
    const Moments sampled = mode ? Moments{c.modes[*mode].mean, c.modes[*mode].sd} : Moments{c.mean, c.sd};
    images.emplace_back(c.algorithm.name, part(sampled, sd));
  }
  if (mode && sd)
    for (const auto& [discretization, law] : results.laws.stationary)
      images.emplace_back(discretization == Discretization::pnp ? "law, PnP" : "law, RED", law.sd());
  return pictures(results, images, sd ? report::Colormap::sd : report::Colormap::gray);
}

}  // namespace

std::vector<report::Figure> mean_pictures(const Results& results, std::optional<size_t> mode) {
  return compared(results, mode, false);
}

std::vector<report::Figure> sd_pictures(const Results& results, std::optional<size_t> mode) {
  return compared(results, mode, true);
}

}  // namespace penumbra::app::statistical
