#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>

#include "app/experiments/interferometry/bimodal.h"
#include "core/yaml.h"
#include "io/file.h"
#include "report/number.h"

namespace penumbra::app::interferometry {
namespace {

TextTable optimum_table(const BimodalResults& a) {
  TextTable table{{"optimum", "E", "p", "chi2 phases", "chi2 amplitudes"}, {}};
  for (const auto& [name, o] : {std::pair{"from m", a.first}, {"from m turned", a.second}})
    table.rows.push_back({name, fmt::format("{:.2f}", o.energy), fmt::format("{:.3f}", o.p),
                          fmt::format("{:.3f}", o.chi2_phase), fmt::format("{:.3f}", o.chi2_amplitude)});
  return table;
}

/// Weights of the orientation of the truth.
TextTable weight_table(const BimodalResults& a) {
  TextTable table{{"problem", "by", "weight", "error", "log-odds", "its error", "trusted"}, {}};
  const auto add = [&](const std::string& problem, const std::string& by, double w, double w_error, double u,
                       double u_error, const std::string& trusted) {
    table.rows.push_back({problem, by, fmt::format("{:.3f}", w), fmt::format("{:.3f}", w_error),
                          fmt::format("{:+.3f}", u), fmt::format("{:.3f}", u_error), trusted});
  };
  const auto add_odds = [&](const std::string& problem, const theory::ModeOdds& odds) {
    if (odds.pairs.empty()) return;
    const auto& pair = odds.pairs[0];
    const double u = odds.log_odds[0] - odds.log_odds[1], w = 1 / (1 + std::exp(-u)), error = pair.bennett.error();
    add(problem, "odds, " + theory::name(pair.map), w, w * (1 - w) * error, u, error,
        odds.trusted ? "yes" : "no: " + odds.doubt);
  };
  const auto n = static_cast<double>(a.annealed.p.size(0));
  const double share = share_of(a.annealed);
  add("T1", "shares of the chains", share, std::sqrt(share * (1 - share) / n), std::log(share / (1 - share)),
      1 / std::sqrt(n * share * (1 - share)), "no");
  add_odds("T1", a.odds);
  if (!a.ladder.each.empty())
    add("T1b", fmt::format("phases let in by and by, {} runs", a.ladder.each.size()), a.ladder.weight(),
        a.ladder.weight_error(), a.ladder.log_odds, a.ladder.error, "yes");
  add_odds("T1b", a.turned_odds);
  return table;
}

TextTable settings_table(const std::vector<OrientationStudy>& studies) {
  TextTable table{{"method", "settings"}, {}};
  // In one line: a table's row has no others.
  for (const auto& study : studies)
    table.rows.push_back({study.method, yaml::format_flow(*yaml::parse(study.sampler, study.method))});
  return table;
}

void add_pictures(report::Page& page, const std::vector<OrientationStudy>& studies, const Tensor& truth) {
  const report::Range range{0, truth.max().item<double>()};
  std::vector<report::Figure> figures;
  const auto add = [&](const std::string& title, const Tensor& image) {
    figures.push_back(
        report::Picture{.title = title, .image = image[0], .range = range, .map = report::Colormap::ember});
  };
  add("truth", truth);
  for (const auto& study : studies)
    for (const bool turned : {false, true})
      if (const auto mean = mean_of(study, turned); mean.defined())
        add(fmt::format("{}: mean of those {}", study.method, turned ? "turned" : "as the truth"), mean);
  page.figures(figures, report::Size::small);
}

std::string html(const BimodalResults& results, const ExperimentOptions& options) {
  report::Page page("A source that can be imaged two ways round",
                    fmt::format("Nine stations on Sgr A*; prior {}, seed {}, {}{}", results.prior, options.seed,
                                report::format_duration(results.seconds), options.quick ? ", quick version" : ""));
  const bool all = all_passed(results.checks);
  page.verdict(all ? report::Level::good : report::Level::warning,
               all ? "Both orientations are found." : "Not all checks hold.");
  page.section(
      "A prior with a formula",
      fmt::format("{0} x {0} pixels. With closure amplitudes alone {1:.2f} of {2} chains are as the truth; 1/2 "
                  "is exact. With closure phases the optima are:",
                  results.side, share_of(results.annealed), results.annealed.p.size(0)));
  page.table(as_numbers(optimum_table(results)));
  page.section("Weights of the orientations",
               "T1: closure amplitudes alone, nine stations; 1/2 is exact. T1b: five stations, closure phases of 30 "
               "times their SDs.");
  page.table(as_numbers(weight_table(results)));
  page.section(
      "The learned prior",
      "Samples by their likeness to the truth and to the truth turned by 180 degrees. That chains reach both says "
      "nothing about the weights of the posterior.");
  page.table(as_numbers(orientation_table(results.studies)));
  add_pictures(page, results.studies, results.truth);
  std::vector<report::Figure> charts;
  for (const auto& study : results.studies) {
    charts.push_back(report::Plot{map_chart(study)});
    charts.push_back(report::Plot{chi2_chart(study)});
  }
  page.figures(charts, report::Size::medium);
  page.section("Checks").findings(findings(results.checks));
  page.section("Settings").table(as_numbers(settings_table(results.studies)));
  return page.html();
}

}  // namespace

double share_of(const Annealed& annealed) { return annealed.p.gt(0).to(at::kDouble).mean().item<double>(); }

std::vector<Check> exact_checks(const BimodalResults& a) {
  const auto n = static_cast<double>(a.annealed.p.size(0));
  const double share = share_of(a.annealed), error = 0.5 / std::sqrt(n);
  const auto good = [](double chi2) { return chi2 >= 0.7 && chi2 <= 1.3; };
  std::vector<Check> checks{
      {"T1: with closure amplitudes alone both orientations have half of the samples, within 3 standard errors",
       std::abs(share - 0.5) <= 3 * error, fmt::format("{:.3f}, standard error {:.3f}", share, error)},
      {"T1: what was found fits", good(a.annealed.chi2.median().item<double>()),
       fmt::format("median chi2 {:.2f}", a.annealed.chi2.median().item<double>())}};
  for (const auto& [name, o, sign] : {std::tuple{"from m", a.first, 1}, {"from m turned", a.second, -1}})
    checks.push_back({fmt::format("T2, {}: the optimum is reached to 0.1, keeps its orientation and fits", name),
                      o.above <= 0.1 && o.p * sign > 0 && good(o.chi2_phase) && good(o.chi2_amplitude),
                      fmt::format("E {:.1f}, at most {:.2g} above; p {:.2f}; chi2 {:.2f} and {:.2f}", o.energy, o.above,
                                  o.p, o.chi2_phase, o.chi2_amplitude)});
  return checks;
}

std::vector<Check> weight_checks(const BimodalResults& a) {
  constexpr double quadrature = 0.003;  // of a weight near 1/2: works integrated to 0.01 nats
  const bool known = a.odds.trusted && !a.odds.weight.empty();
  const double w = known ? a.odds.weight[0] : NAN, error = known ? a.odds.weight_error[0] : NAN;
  return {{"T1: by the odds of the samples each orientation has weight 1/2, within 3 standard errors",
           std::abs(w - 0.5) <= 3 * error + quadrature,
           known ? fmt::format("{:.4f}, standard error {:.4f}", w, error) : "not trusted: " + a.odds.doubt},
          {"T1b: five stations leave the turned source some weight, known to 0.15",
           a.ladder.weight() > 0.5 && a.ladder.weight() < 0.99 && 3 * a.ladder.weight_error() <= 0.15,
           fmt::format("{:.3f}, standard error {:.3f}, for the source as it is", a.ladder.weight(),
                       a.ladder.weight_error())}};
}

void write(const BimodalResults& results, const ExperimentOptions& options) {
  const auto& out = options.out;
  const auto table = orientation_table(results.studies);
  io::write_file(
      out / "table.md",
      fmt::format(
          "# A source that can be imaged two ways round\n\nprior {}; seed {}; {:.0f} s on {}\n\n## A prior with a "
          "formula\n\nT1: {:.3f} of {} chains as the truth\n\n{}\n{}\n## The learned prior\n\n{}\n## "
          "Settings\n\n{}",
          results.prior, options.seed, results.seconds, options.device.str(), share_of(results.annealed),
          results.annealed.p.size(0), markdown(weight_table(results)), markdown(optimum_table(results)),
          markdown(table), markdown(settings_table(results.studies))));
  TextTable chains{{"chain", "p", "chi2"}, {}};
  for (int64_t i = 0; i < results.annealed.p.size(0); ++i)
    chains.rows.push_back({std::to_string(i), fmt::format("{:.6g}", results.annealed.p[i].item<double>()),
                           fmt::format("{:.6g}", results.annealed.chi2[i].item<double>())});
  io::write_file(out / "analytic.csv", csv(chains));
  TextTable samples{{"method", "sample", "orientation", "chi2_phase", "chi2_amplitude"}, {}};
  for (const auto& study : results.studies)
    for (size_t i = 0; i < study.leads.size(); ++i) {
      const auto k = static_cast<int64_t>(i);
      samples.rows.push_back({study.method, std::to_string(i), fmt::format("{:.6g}", study.leads[i]),
                              fmt::format("{:.6g}", study.chi2_phase[k].item<double>()),
                              fmt::format("{:.6g}", study.chi2_amplitude[k].item<double>())});
    }
  io::write_file(out / "samples.csv", csv(samples));
  for (const auto& study : results.studies) {
    io::write_file(out / (study.method + "-map.svg"), report::svg(map_chart(study), true));
    io::write_file(out / (study.method + "-chi2.svg"), report::svg(chi2_chart(study), true));
  }
  io::write_file(out / "report.html", html(results, options));
  nlohmann::json settings{{"device", options.device.str()}, {"prior", results.prior}, {"side", results.side}};
  for (const auto& study : results.studies) settings["methods"][study.method] = study.sampler;
  write_record("bimodal", options, settings, results.checks, results.seconds);
  fmt::print("\n{}\n{}\n{}\n", aligned(weight_table(results)), aligned(optimum_table(results)), aligned(table));
}

}  // namespace penumbra::app::interferometry
