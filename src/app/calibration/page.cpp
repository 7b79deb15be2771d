/// The report of a calibration.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "app/calibration/files.h"
#include "report/number.h"
#include "report/page.h"

namespace penumbra::app::calibration {
namespace {

using report::Level;

report::Figure coverage_plot(const std::string& title, const diagnostics::CoverageCurve& c,
                             const std::string& caption) {
  report::Chart chart{
      .title = title,
      .x = {.label = "claimed probability", .low = 0, .high = 1},
      .y = {.label = "share of simulations inside", .low = 0, .high = 1},
      .series = {{.name = "calibrated: 95 % band", .x = c.nominal, .low = c.low, .high = c.high, .colour = 1},
                 {.name = "measured", .x = c.nominal, .y = c.measured, .colour = 0},
                 {.x = {0, 1}, .y = {0, 1}, .dashed = true, .colour = 1}},
      .square = true};
  return report::Plot{std::move(chart), caption};
}

/// The places of all statistics of a kind in one histogram, as shares.
std::vector<report::Figure> rank_plots(const Findings& findings) {
  std::map<std::string, std::vector<double>> sums;
  std::map<std::string, int> counts;
  std::vector<std::string> order;
  for (size_t i = 0; i < findings.names.size(); ++i) {
    const auto kind = kind_of(findings.names[i]);
    const auto& bins = findings.calibration.statistics[i].histogram;
    if (counts[kind]++ == 0) order.push_back(kind);
    auto& sum = sums[kind];
    sum.resize(bins.size(), 0);
    for (size_t b = 0; b < bins.size(); ++b) sum[b] += static_cast<double>(bins[b]);
  }
  std::vector<report::Figure> figures;
  for (const auto& kind : order) {
    const auto& sum = sums[kind];
    const double total = std::accumulate(sum.begin(), sum.end(), 0.0), bins = static_cast<double>(sum.size());
    report::Series bars{.mark = report::Mark::bars};
    for (size_t b = 0; b <= sum.size(); ++b) bars.x.push_back(static_cast<double>(b) / bins);
    double highest = 2;
    for (const double count : sum) {
      bars.y.push_back(count / total * bins);
      highest = std::max(highest, 1.1 * bars.y.back());
    }
    auto words = kind;
    std::replace(words.begin(), words.end(), '_', ' ');
    const auto number = counts[kind];
    report::Chart chart{.title = number > 1 ? fmt::format("{}s, {}", words, number) : words,
                        .x = {.label = "rank of the truth among the draws", .low = 0, .high = 1},
                        .y = {.label = "density", .low = 0, .high = highest},
                        .series = {bars},
                        .references = {{1, "uniform"}},
                        .width = 400,
                        .height = 240};
    figures.push_back(report::Plot{std::move(chart), {}});
  }
  return figures;
}

/// Were all ranks uniform, the p-values would be as well: the sorted ones on the diagonal.
report::Figure p_value_plot(const Findings& findings) {
  std::vector<double> p, expected;
  for (const auto& s : findings.calibration.statistics) p.push_back(std::max(s.p, 1e-12));
  std::sort(p.begin(), p.end());
  for (size_t i = 0; i < p.size(); ++i)
    expected.push_back((static_cast<double>(i) + 0.5) / static_cast<double>(p.size()));
  report::Chart chart{
      .title = "p-values of the statistics, sorted",
      .x = {.label = "expected p", .log = true},
      .y = {.label = "found p", .log = true},
      .series = {{.name = "statistics", .x = expected, .y = p, .mark = report::Mark::points},
                 {.name = "uniform ranks", .x = {expected.front(), 1}, .y = {expected.front(), 1}, .dashed = true}},
      .references = {{0.01, "0.01"}}};
  return report::Plot{std::move(chart),
                      "Below the dashed line: less uniform than chance allows. Statistics of one "
                      "image hang together, so they stray from it together."};
}

report::Table statistics_table(const Findings& findings, size_t most) {
  std::vector<size_t> order(findings.names.size());
  std::iota(order.begin(), order.end(), 0);
  const auto& all = findings.calibration.statistics;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return all[a].p < all[b].p; });
  order.resize(std::min(order.size(), most));
  report::Table table{{"statistic", "p", "90 % intervals hold", "bias (SD)", "error / SD"}, {}, true};
  for (const auto i : order) {
    const auto& s = all[i];
    table.rows.push_back({findings.names[i],
                          {report::format_number(s.p, 2), s.p < 0.01 ? std::optional(Level::warning) : std::nullopt},
                          fmt::format("{:.1f} %", 100 * s.coverage_90),
                          fmt::format("{:+.2f}", s.bias),
                          fmt::format("{:.2f}", s.ratio)});
  }
  return table;
}

std::vector<report::Badge> badges(const Findings& findings) {
  const auto& c = findings.calibration;
  const auto judged = [](bool good) { return good ? Level::good : Level::bad; };
  std::vector<report::Badge> row{
      {report::level_of(findings.verdict.level), findings.verdict.word},
      {judged(findings.verdict.uneven <= c.allowed_uneven),
       fmt::format("{} of {} statistics uneven", findings.verdict.uneven, c.statistics.size())},
      {judged(std::abs(c.coverage_90 - 0.9) <= 3 * c.coverage_90_error),
       fmt::format("90 % intervals hold {:.1f} %", 100 * c.coverage_90)}};
  if (std::isfinite(c.ratio)) row.push_back({Level::note, fmt::format("error / SD {:.2f}", c.ratio)});
  return row;
}

void add_setting(report::Page& page, const Calibrated& calibrated, const Findings& findings) {
  const auto& [problem, subject, plan] = calibrated;
  const bool exact = subject.prior->draw(1, {}).has_value();
  page.section("How it was done");
  page.text(fmt::format(
      "{} truths were drawn from the prior ({}), {}. Each was measured by the likelihood ({}) and its posterior "
      "sampled "
      "by {}, {} steps; its {} draws are {}.",
      plan.simulations, problem.prior_kind,
      exact ? std::string("exactly")
            : fmt::format("by the probability-flow equation in {} steps: the prior is judged as it generates, not as "
                          "the images that it was trained on",
                          plan.truth_steps),
      problem.likelihood_kind, problem.sampler_kind, problem.plan.steps, subject.draws(),
      subject.draws_per_chain == 1
          ? "the last iterates of independent chains"
          : fmt::format("{} iterates of each of {} chains, which are not quite independent: ranks may stray from "
                        "uniform for that alone",
                        subject.draws_per_chain, subject.plan.chains)));
  page.text(
      "A rank is the number of draws below the truth, here put on (0, 1) at random within its step, so that it is "
      "uniform for any number of draws. Calibration on draws of the prior says that the sampler solves the problem "
      "that "
      "it is given; whether prior and likelihood suit real data is another question.");
  page.text("Criterion. " + findings.verdict.criterion + ".");
  page.details("Configuration", [&](report::Page& inner) { inner.code(problem.resolved); });
}

}  // namespace

std::string page(const Calibrated& calibrated, const Findings& findings) {
  const auto& problem = calibrated.problem;
  report::Page page("Calibration",
                    fmt::format("{} prior, {} likelihood, {}; {} simulations, seed {}, {}", problem.prior_kind,
                                problem.likelihood_kind, problem.sampler_kind, findings.calibration.simulations,
                                problem.seed, report::format_duration(findings.all.seconds)));
  page.verdict(report::level_of(findings.verdict.level), findings.verdict.text, badges(findings));
  page.section("Coverage", "Does a region that claims to hold the truth with some probability do so?");
  page.figures({coverage_plot("Central intervals", findings.calibration.intervals,
                              "Over all statistics. Below the band: over-confident. Above: under-confident."),
                coverage_plot("Balls about random points (TARP)", findings.calibration.tarp,
                              fmt::format("Of whole images, in pixels scaled by their SD over the other truths; p = "
                                          "{}. Above the band: the draws are spread "
                                          "more than the truths. Below: less, or they are biased.",
                                          report::format_number(findings.calibration.tarp_p, 2)))},
               report::Size::large);
  page.section("Ranks",
               "Flat: calibrated. High at both ends: over-confident. Arched: under-confident. Sloped: biased.");
  page.figures(rank_plots(findings));
  page.section("Statistics", "The least uniform ones; ranks.csv has every simulation.");
  page.table(statistics_table(findings, 12));
  page.figures({p_value_plot(findings)});
  page.details("All statistics",
               [&](report::Page& inner) { inner.table(statistics_table(findings, findings.names.size())); });
  add_setting(page, calibrated, findings);
  return page.html();
}

}  // namespace penumbra::app::calibration
