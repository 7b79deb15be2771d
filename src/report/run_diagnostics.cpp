/// The verdicts in words and the numbers behind them; the score against a known truth.
#include <fmt/format.h>

#include "report/number.h"
#include "report/run_course.h"

namespace penumbra::report {
namespace {

using nlohmann::json;
using Rows = std::vector<std::vector<Cell>>;

std::string shown(const std::optional<double>& value) { return value ? format_number(*value) : ""; }

/// "median 1.01, 95 % 1.03", from those that are there.
std::string list(const std::vector<std::pair<std::string, std::optional<double>>>& parts) {
  std::string text;
  for (const auto& [name, value] : parts)
    if (value) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, format_number(*value));
  return text;
}

void add_row(Rows& rows, const std::string& what, const std::string& value, const std::string& expected,
             const std::string& meaning) {
  if (!value.empty()) rows.push_back({what, value, expected, meaning});
}

Rows misfit_rows(const json& diagnostics) {
  Rows rows;
  if (!diagnostics.contains("misfit") || !diagnostics["misfit"].is_array()) return rows;
  for (const auto& term : diagnostics["misfit"]) {
    const auto name = text_at(term, {"term"}), count = text_at(term, {"data_count"});
    const auto expected = shown(number_at(term, {"expected"})), tolerance = shown(number_at(term, {"tolerance"}));
    add_row(rows, "Data misfit" + (name.empty() ? "" : ", " + name), shown(number_at(term, {"chi2"})),
            expected + (tolerance.empty() ? "" : fmt::format(" within {}", tolerance)),
            fmt::format("Chi squared per datum{}: do the samples explain the measurements to within their noise?",
                        count.empty() ? "" : " over " + count + " data"));
  }
  return rows;
}

Rows diagnostic_rows(const json& diagnostics) {
  const auto at = [&](const std::string& part, const std::string& key) { return number_at(diagnostics, {part, key}); };
  Rows rows;
  const auto kind = text_at(diagnostics, {"rhat", "kind"}), threshold = shown(at("rhat", "threshold"));
  add_row(rows, "R-hat" + (kind.empty() ? "" : " (" + kind + ")"),
          list({{"median", at("rhat", "median")}, {"95 %", at("rhat", "p95")}, {"largest", at("rhat", "max")}}),
          threshold.empty() ? "near 1" : "below " + threshold,
          "Do the chains agree with each other? 1 means that between them they vary no more than each does alone.");
  add_row(rows, "Effective samples", list({{"median", at("ess", "median")}, {"smallest", at("ess", "min")}}),
          "the more the better", "How many independent samples the correlated ones are worth, pixel by pixel.");
  add_row(rows, "Monte Carlo error",
          list({{"of the mean", at("mcse", "mean_relative")}, {"of the SD", at("mcse", "sd_relative")}}),
          "well below 1",
          "What a rerun with another seed would change: in the mean as a share of the SD, in the SD as a share of "
          "itself.");
  for (auto& row : misfit_rows(diagnostics)) rows.push_back(std::move(row));
  const auto limit = at("step", "stability_limit"), theorem = at("step", "theorem_limit");
  add_row(rows, "Step size", shown(at("step", "step_size")),
          list({{"stable below", limit}, {"theorem below", theorem}}),
          "Above the first limit the chain blows up; below the second the convergence theorem speaks about it.");
  add_row(rows, "Lipschitz constants",
          list({{"likelihood", at("step", "lipschitz_likelihood")}, {"prior", at("step", "lipschitz_prior")}}), "",
          "How fast the two gradients can change; the limits of the step size follow from them.");
  return rows;
}

/// Metrics in the order of their interest, with what they mean.
const std::vector<std::array<std::string, 3>> metric_meanings{
    {"psnr_range", "PSNR (dB)", "Peak signal to noise of the mean, peak as the data's range; higher is better."},
    {"psnr_paper", "PSNR, paper (dB)", "The same with the paper's peak; higher is better."},
    {"ssim", "SSIM", "Structural similarity of mean and truth; 1 is identical."},
    {"mse", "Mean square error", "Of the mean against the truth; lower is better."},
    {"mae", "Mean absolute error", "Of the mean against the truth; lower is better."},
    {"nll", "Negative log likelihood",
     "Of the truth under a normal law with the posterior's mean and SD, per value; lower is better."},
    {"coverage_3sd", "Coverage of 3 SD", "Share of values whose truth is within 3 SD; 0.997 for a normal posterior."},
    {"mean_sd", "Mean SD", "Average posterior SD over the values."},
    {"rank_correlation", "Error against SD",
     "Rank correlation of absolute error and SD: does the SD know where the "
     "errors are?"}};

std::optional<double> metric(const json& metrics, const std::string& name) {
  const auto plain = number_at(metrics, {name});
  return plain ? plain : number_at(metrics, {name, "value"});
}

Rows metric_rows(const json& metrics) {
  Rows rows;
  for (const auto& [key, title, meaning] : metric_meanings) {
    const auto value = metric(metrics, key);
    const auto convention = text_at(metrics, {key, "convention"});
    if (value)
      rows.push_back(
          {title, format_number(*value, 4), meaning + (convention.empty() ? "" : " Convention: " + convention + ".")});
  }
  for (const auto& [key, value] : metrics.items()) {
    const bool known = std::any_of(metric_meanings.begin(), metric_meanings.end(),
                                   [&, &name = key](const auto& row) { return row[0] == name; });
    if (const auto number = metric(metrics, key); number && !known)
      rows.push_back({key, format_number(*number, 4), text_at(value, {"convention"})});
  }
  return rows;
}

std::vector<double> number_list(const json& from, const std::string& key) {
  std::vector<double> numbers;
  if (from.is_object() && from.contains(key) && from[key].is_array())
    for (const auto& value : from[key]) numbers.push_back(value.is_number() ? value.get<double>() : NAN);
  return numbers;
}

void add_calibration(Page& page, const json& metrics) {
  const auto& calibration = metrics.contains("calibration") ? metrics["calibration"] : json();
  const auto nominal = number_list(calibration, "nominal"), empirical = number_list(calibration, "empirical");
  if (nominal.empty() || nominal.size() != empirical.size()) return;
  Chart chart{.title = "Calibration",
              .x = {.label = "nominal coverage of the interval", .low = 0, .high = 1},
              .y = {.label = "share of true values inside", .low = 0, .high = 1},
              .square = true};
  chart.series.push_back({.name = "ideal", .x = {0, 1}, .y = {0, 1}, .dashed = true, .colour = 5});
  chart.series.push_back({.name = "this run", .x = nominal, .y = empirical, .colour = 0});
  chart.series.push_back({.x = nominal, .y = empirical, .mark = Mark::points, .colour = 0});
  page.figures({Plot{chart, "Below the dashed line the posterior is too sure of itself, above it too timid."}},
               Size::large);
}

}  // namespace

void add_diagnostics(Page& page, const RunFolder& run) {
  page.section("Can it be trusted?");
  std::vector<std::pair<Badge, std::string>> findings;
  if (run.summary.contains("verdicts") && run.summary["verdicts"].is_array())
    for (const auto& verdict : run.summary["verdicts"])
      findings.push_back(
          {{level_of(text_at(verdict, {"level"})), text_at(verdict, {"about"})}, text_at(verdict, {"text"})});
  if (!findings.empty()) page.findings(findings);
  const auto rows = diagnostic_rows(run.summary.value("diagnostics", json::object()));
  if (!rows.empty()) page.table({{"Diagnostic", "Value", "Expected", "Meaning"}, rows});
  if (findings.empty() && rows.empty()) page.text("The run's summary holds no diagnostics.");
}

void add_metrics(Page& page, const RunFolder& run) {
  if (!run.metrics) return;
  page.section("Against the truth");
  const auto rows = metric_rows(*run.metrics);
  if (!rows.empty()) page.table({{"Metric", "Value", "Meaning"}, rows});
  add_calibration(page, *run.metrics);
}

}  // namespace penumbra::report
