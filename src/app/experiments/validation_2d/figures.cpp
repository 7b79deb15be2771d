#include "app/experiments/validation_2d/figures.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/html.h"

namespace penumbra::app::validation_2d {
namespace {

/// A curve with its band, and dashed in the same colour where the closed form puts it.
void add(report::Chart& chart, const std::string& name, const Curve& curve, double predicted) {
  const int colour = static_cast<int>(chart.series.size() / 2);
  chart.series.push_back(
      {.name = name, .x = curve.k, .y = curve.mean, .low = curve.low, .high = curve.high, .colour = colour});
  chart.series.push_back(
      {.x = {curve.k.front(), curve.k.back()}, .y = {predicted, predicted}, .dashed = true, .colour = colour});
}

report::Chart empty_chart(const std::string& title, const std::string& quantity) {
  return {.title = title, .x = {.label = "iteration k"}, .y = {.label = quantity, .log = true}};
}

ConvergenceFigure figure(const std::vector<Row>& rows, const Courses& courses, Discretization algorithm, Sweep sweep) {
  const auto title = fmt::format("{}, {}", algorithm_name(algorithm), name(sweep));
  ConvergenceFigure figure{.name = report::slug(title),
                           .fi = empty_chart(title + ": FI", "FI(nu_k || pi)"),
                           .kl = empty_chart(title + ": KL", "KL(nu_k || pi)")};
  for (const auto& row : rows) {
    if (row.algorithm != algorithm || row.column.sweep != sweep) continue;
    const auto& course = courses.at(row.column.configuration(algorithm));
    add(figure.fi, fmt::format("{:g} (least {:.4f})", row.column.value, row.measured.fi), curve(course, &Distances::fi),
        row.prediction.fi);
    add(figure.kl, fmt::format("{:g} (least {:.3f})", row.column.value, row.measured.kl), curve(course, &Distances::kl),
        row.prediction.kl());
  }
  return figure;
}

const Row& default_row(const std::vector<Row>& rows, Discretization algorithm) {
  return *std::find_if(rows.begin(), rows.end(), [&](const Row& row) {
    return row.algorithm == algorithm &&
           row.column.configuration(algorithm) == Configuration{.discretization = algorithm};
  });
}

}  // namespace

std::vector<ConvergenceFigure> convergence_figures(const std::vector<Row>& rows, const Courses& courses) {
  std::vector<ConvergenceFigure> figures;
  for (const auto algorithm : algorithms)
    for (const auto sweep : sweeps) figures.push_back(figure(rows, courses, algorithm, sweep));
  return figures;
}

report::Chart floor_chart(const std::vector<Row>& rows, const Courses& courses, Discretization algorithm) {
  const auto& row = default_row(rows, algorithm);
  const auto& course = courses.at(row.column.configuration(algorithm));
  const auto kl = curve(course, &Distances::kl), weights = curve(course, &Distances::weight_kl);
  Curve rest{.k = kl.k, .mean = {}, .low = {}, .high = {}};
  for (size_t i = 0; i < kl.k.size(); ++i) rest.mean.push_back(kl.mean[i] - weights.mean[i]);
  report::Chart chart{.title = fmt::format("{}: KL taken apart", algorithm_name(algorithm)),
                      .x = {.label = "iteration k"},
                      .y = {.label = "KL(nu_k || pi), mean of the posteriors", .low = 0}};
  add(chart, "KL", {kl.k, kl.mean, {}, {}}, row.prediction.kl());
  add(chart, "of the mode weights", {weights.k, weights.mean, {}, {}}, row.prediction.kl_weights);
  add(chart, "inside the modes", rest, row.prediction.kl_modes);
  return chart;
}

report::Chart weights_chart(const Problem& problem, const Courses& courses) {
  report::Chart chart{.title = "Weight of the first mode",
                      .x = {.label = "exact", .low = 0, .high = 1},
                      .y = {.label = "share of the chains", .low = 0, .high = 1},
                      .square = true};
  for (const auto algorithm : algorithms) {
    report::Series series{.name = algorithm_name(algorithm), .mark = report::Mark::points};
    for (const auto& posterior : problem.posteriors) series.x.push_back(posterior.weights[0].item<double>());
    series.y = courses.at({.discretization = algorithm}).at.back().first_weight;
    chart.series.push_back(series);
  }
  chart.series.push_back({.name = "if they were right", .x = {0, 1}, .y = {0, 1}, .dashed = true, .colour = 5});
  return chart;
}

std::string standalone_svg(const ConvergenceFigure& figure) {
  const auto& [fi, kl] = std::pair(figure.fi, figure.kl);
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\">\n"
      "<g>{2}</g>\n<g transform=\"translate({3} 0)\">{4}</g>\n</svg>\n",
      fi.width + kl.width, std::max(fi.height, kl.height), report::svg(fi, true), fi.width, report::svg(kl, true));
}

}  // namespace penumbra::app::validation_2d
