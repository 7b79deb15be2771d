/// The score against a known truth: metrics.json.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "report/number.h"
#include "report/run_course.h"

namespace penumbra::report {
namespace {

using nlohmann::json;
using Rows = std::vector<std::vector<Cell>>;

const std::string rank_meaning = "Rank correlation of absolute error and SD: does the SD know where the errors are?";

/// Metrics in the order of their interest, with what they mean.
const std::vector<std::array<std::string, 3>> metric_meanings{
    {"psnr_range", "PSNR (dB)", "Peak signal to noise of the mean, the peak being the data's range; higher is better."},
    {"psnr_paper", "PSNR, paper (dB)", "The same with the paper's peak; higher is better."},
    {"ssim", "SSIM", "Structural similarity of mean and truth; 1 is identical."},
    {"mse", "Mean square error", "Of the mean against the truth; lower is better."},
    {"mae", "Mean absolute error", "Of the mean against the truth; lower is better."},
    {"nll", "Negative log likelihood",
     "Of the truth under a normal law with the posterior's mean and SD, per value; lower is better."},
    {"coverage_3sd", "Coverage of 3 SD", "Share of values whose truth is within 3 SD; 0.997 for a normal posterior."},
    {"mean_sd", "Mean SD", "Average posterior SD over the values."},
    {"error_sd_rank_correlation", "Error against SD", rank_meaning},
    {"rank_correlation", "Error against SD", rank_meaning}};

/// A plain number, or an object that holds it beside its convention.
std::optional<double> metric(const json& metrics, const std::string& name) {
  if (const auto plain = number_at(metrics, {name})) return plain;
  for (const auto* key : {"value", "db", "per_pixel"})
    if (const auto value = number_at(metrics, {name, key})) return value;
  return std::nullopt;
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

/// The numbers under `key`: of a list there, or of each object of a list.
std::vector<double> number_list(const json& from, const std::string& key) {
  std::vector<double> numbers;
  const auto push = [&](const json& value) { numbers.push_back(value.is_number() ? value.get<double>() : NAN); };
  if (from.is_object() && from.contains(key) && from[key].is_array())
    for (const auto& value : from[key]) push(value);
  if (from.is_array())
    for (const auto& point : from) push(point.is_object() && point.contains(key) ? point[key] : json());
  return numbers;
}

void add_calibration(Page& page, const json& metrics) {
  const auto calibration = metrics.value("calibration", json());
  const auto nominal = number_list(calibration, "nominal"), empirical = number_list(calibration, "empirical");
  const auto expected = number_list(calibration, "expected_for_this_many_draws");
  if (nominal.empty() || nominal.size() != empirical.size()) return;
  Chart chart{.title = "Calibration",
              .x = {.label = "nominal coverage of the interval", .low = 0, .high = 1},
              .y = {.label = "share of true values inside", .low = 0, .high = 1},
              .width = 400,
              .square = true};
  chart.series.push_back({.name = "ideal", .x = {0, 1}, .y = {0, 1}, .dashed = true, .colour = 5});
  // Intervals from few draws are too short even in a perfect run: that, not the diagonal, is then the target.
  if (expected.size() == nominal.size() &&
      std::any_of(expected.begin(), expected.end(), [](double v) { return v == v; }))
    chart.series.push_back({.name = "ideal, so many draws", .x = nominal, .y = expected, .dashed = true, .colour = 1});
  chart.series.push_back({.name = "this run", .x = nominal, .y = empirical, .colour = 0});
  chart.series.push_back({.x = nominal, .y = empirical, .mark = Mark::points, .colour = 0});
  page.figures({Plot{chart, "Below the ideal line the posterior is too sure of itself, above it too timid."}});
}

}  // namespace

void add_metrics(Page& page, const RunFolder& run) {
  if (!run.metrics) return;
  page.section("Against the truth");
  const auto rows = metric_rows(*run.metrics);
  if (!rows.empty()) page.table({{"Metric", "Value", "Meaning"}, rows});
  add_calibration(page, *run.metrics);
}

}  // namespace penumbra::report
