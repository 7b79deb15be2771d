#include "app/experiments/statistical/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/experiments/statistical/figures.h"
#include "report/number.h"

namespace penumbra::app::statistical {
namespace {

using report::Level;

std::vector<std::pair<report::Badge, std::string>> weight_findings(const Results& results) {
  std::vector<std::pair<report::Badge, std::string>> list;
  const double exact = results.setting.weight(0);
  for (const auto& c : results.comparisons) {
    const bool right = std::abs(c.weight_z) < 4;
    const bool both = c.modes[0].known() && c.modes[1].known();
    list.push_back({{right ? Level::good : Level::warning, right ? "right" : "wrong"},
                    fmt::format("{} {}; it puts {:.3f} of the chains in mode 1, whose exact weight is {:.3f} ({:+.0f} "
                                "Monte-Carlo errors).",
                                c.algorithm.name, both ? "finds both modes" : "all but misses a mode", c.weight, exact,
                                c.weight_z)});
  }
  return list;
}

void add_setting(report::Page& page, const Results& results) {
  const auto& s = results.setting;
  const auto& p = s.parameters;
  const auto candidates = s.images.candidates.size(0);
  page.section("Setting");
  page.text(fmt::format(
      "Images: {}, {} x {}. The prior has two modes of equal weight, the class means shifted by {:+g} and {:+g}, with "
      "one "
      "covariance of which {} directions exceed the floor of {:g}. A is {} x {} with N(0, 1/m) entries, beta^2 = {:g}.",
      s.images.source, p.side, p.side, -p.shift, p.shift, s.images.factor.size(1), s.images.floor, s.A.size(0),
      s.A.size(1), p.beta * p.beta));
  page.text(fmt::format(
      "The test image is an unshifted one, chosen: over {} candidates the exact log-odds of the modes have a root mean "
      "square of {:.0f} nats, and only {} lie within 1.5. For a typical image the exact posterior has one mode, and "
      "samples in both would be an error. The one taken has log-odds {:+.2f}.",
      candidates, s.log_odds_sd, s.undecided, s.log_odds));
  page.text(fmt::format(
      "gamma = {:g}, sigma_0 = {:g}, alpha_0 = {:g}, xi = {:g}, sigma_min = {:.4f}; {} chains, uniform in [-{:g}, "
      "{:g}]^n "
      "at the start, {} iterations, float32; a chain's last iterate is its sample. PMC keeps sigma = sigma_min and "
      "alpha = 1 throughout. After annealing the start's influence shrinks by {:.4f} (PnP) and {:.4f} (RED) a step.",
      p.gamma, p.sigma_0, p.alpha_0, p.xi, p.sigma_min, p.chains, p.start, p.start, p.steps,
      results.laws.spectral_radius.at(Discretization::pnp), results.laws.spectral_radius.at(Discretization::red)));
}

void add_pictures(report::Page& page, const Results& results) {
  const std::vector<std::pair<std::string, std::optional<size_t>>> groups{
      {"Mode 1", 0}, {"Mode 2", 1}, {"All samples", std::nullopt}};
  page.section("Pictures", "Mean and standard deviation per pixel; one colour scale a row.");
  for (const auto& [name, mode] : groups) {
    page.text(name + ": mean");
    page.figures(mean_pictures(results, mode), report::Size::small);
    page.text(name + ": standard deviation");
    page.figures(sd_pictures(results, mode), report::Size::small);
  }
}

}  // namespace

std::string page(const Results& results, const ExperimentOptions& options) {
  const auto& checks = results.checks;
  const auto passed = std::count_if(checks.begin(), checks.end(), [](const Check& check) { return check.passed; });
  const auto wrong = std::count_if(results.comparisons.begin(), results.comparisons.end(),
                                   [](const Comparison& c) { return std::abs(c.weight_z) >= 4; });
  const bool good = all_passed(checks);
  report::Page page("Statistical validation with the analytic score",
                    fmt::format("Section V.B and Suppl. II.B; seed {}, {}{}", options.seed,
                                report::format_duration(results.seconds), options.quick ? ", quick version" : ""));
  page.verdict(good ? Level::good : Level::bad,
               good ? "Inside each mode the samples have the mean and the variance that the step size implies. The "
                      "weights of the modes are another matter."
                    : "Some of the claims below do not hold in this run.",
               {{good ? Level::good : Level::bad, fmt::format("{} of {} checks hold", passed, checks.size())},
                {wrong ? Level::warning : Level::good,
                 fmt::format("{} of {} samplers have wrong weights", wrong, results.comparisons.size())},
                {Level::note, fmt::format("modes {:.0f} SDs apart", results.setting.separation)}});
  page.section("Weights of the modes", "How many chains end in which mode is no estimate of its probability.");
  page.table(as_numbers(weights_table(results.setting, results.comparisons)));
  page.findings(weight_findings(results));
  std::vector<report::Figure> shares, profiles;
  for (const auto& c : results.comparisons) {
    shares.push_back(report::Plot{share_chart(results, c)});
    profiles.push_back(report::Plot{profile_chart(results, c)});
  }
  page.figures(shares, report::Size::large);
  page.text(
      "Without annealing, a mixture's analytic score still leads every chain from far away into one of the basins; the "
      "paper shows the failure of un-annealed chains for a learned score. With annealing, "
      "alpha_k multiplies the small log-odds of the smoothed prior, so that a chain falls to the side of its "
      "data-consistent image, whatever the exact odds are.");
  page.section("Inside the modes", "Against the exact posterior and against the law that gamma and sigma_min imply.");
  page.table(as_numbers(modes_table(results.comparisons)));
  page.text(
      "Mean error: distance of the sample mean from the exact one in units of sqrt(tr C); expected: the law's bias and "
      "the Monte-Carlo error together. Trace ratio: tr of the sample covariance over the exact one's. z: in units of "
      "the "
      "Monte-Carlo error, about normal if the samples follow that law. SD ratio: mean over the pixels against the "
      "exact "
      "SD; SD error: rms from the law's SD in units of its Monte-Carlo error. PnP has a bias of the mean of order "
      "gamma "
      "that RED has not; both are too wide.");
  page.figures(profiles, report::Size::large);
  page.section("All samples", "Root mean square over the pixels; the law is taken with the sampled weights.");
  page.table(as_numbers(overall_table(results.comparisons)));
  add_pictures(page, results);
  page.section("Checks").findings(findings(checks));
  add_setting(page, results);
  return page.html();
}

}  // namespace penumbra::app::statistical
