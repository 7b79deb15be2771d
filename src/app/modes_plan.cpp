#include "app/modes_plan.h"

#include <algorithm>

namespace penumbra::app {

std::optional<ModesPlan> modes_setting(Settings& settings, Settings& likelihood, const Shape& image_shape) {
  const bool sky = likelihood.text("kind") == "interferometry";
  if (!sky && !settings.has("modes")) return std::nullopt;
  auto section = settings.section("modes");
  const auto side = std::min(image_shape[1], image_shape[2]);
  ModesPlan plan;
  // Closures and amplitudes know no position; phases do.
  const bool free_position = sky && !(likelihood.is_section("terms") && likelihood.section("terms").has("visibility"));
  plan.options.align = section.choice("align", {"shift", "none"}, free_position ? "shift" : "none") == "shift"
                           ? diagnostics::Align::shift
                           : diagnostics::Align::none;
  // Asked for in any case: the file of a run that was aligned has it when `modes` is told not to align.
  const auto half = std::max<int64_t>(1, side / 2);
  plan.options.max_shift = section.integer("max_shift", std::max<int64_t>(1, side / 4), {1, static_cast<double>(half)});
  plan.options.most = section.integer("most", plan.options.most, {1, 100});
  plan.only_fitting = section.flag("only_fitting", sky);
  plan.perplexity = section.number("perplexity", plan.perplexity, {1, 1000, true});
  // Samples that are moved onto one another first are no longer quite the prior's: then only where asked for.
  const auto otherwise = plan.options.align == diagnostics::Align::shift ? "counts" : "odds";
  plan.odds = section.choice("weights", {"odds", "counts"}, otherwise) == "odds";
  plan.odds_samples = section.integer("odds_samples", plan.odds_samples, {2, 1e6});
  if (!sky) return plan;
  const double fov = likelihood.number("fov", positive);
  plan.ring = diagnostics::RingOptions{
      .fov = fov,
      .blur = section.number("ring_blur", 2 * fov / static_cast<double>(image_shape[2]), not_negative),
      .black = likelihood.number("black", 0.0)};
  return plan;
}

}  // namespace penumbra::app
