#include "app/experiments/validation_2d/results.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace penumbra::app::validation_2d {
namespace {

/// FI along a sweep from its largest value down; the sweep of sigma_min goes on to the default, sigma_min = 0.
std::vector<double> along(const std::vector<Row>& rows, Discretization algorithm, Sweep sweep) {
  std::vector<double> fi;
  double fi_default = 0;
  for (const auto& row : rows) {
    if (row.algorithm != algorithm) continue;
    if (row.column.sweep == sweep) fi.push_back(row.measured.fi);
    if (row.column.sweep == Sweep::gamma && row.column.value == Configuration{}.gamma) fi_default = row.measured.fi;
  }
  if (sweep == Sweep::sigma_min) fi.push_back(fi_default);
  return fi;
}

Check monotone(const std::vector<Row>& rows, Discretization algorithm, Sweep sweep) {
  const auto fi = along(rows, algorithm, sweep);
  return {fmt::format("{}: FI falls with {}", algorithm_name(algorithm), name(sweep)),
          std::is_sorted(fi.rbegin(), fi.rend(), std::less_equal<>()), fmt::format("{:.6f}", fmt::join(fi, " > "))};
}

Check inside_the_grid(const Courses& courses) {
  int64_t latest = 0;
  bool all_return = true;
  for (const auto& [configuration, course] : courses) {
    const auto fi = curve(course, &Distances::fi);
    for (size_t i = 0; i < fi.k.size(); ++i)
      if (std::isnan(fi.mean[i])) latest = std::max(latest, course.k[i]);
    all_return = all_return && !std::isnan(fi.mean.back());
  }
  return {"all chains return to the grid", all_return,
          latest == 0 ? "they were there at every evaluation"
                      : fmt::format("the last evaluation without them all was at iteration {}", latest)};
}

}  // namespace

Tolerance tolerance(const Effort& effort) {
  const double wider = std::sqrt(20.0 / static_cast<double>(effort.posteriors));
  Tolerance tolerance;
  tolerance.relative *= wider;
  tolerance.absolute *= wider;
  return tolerance;
}

std::vector<Row> make_rows(const Problem& problem, const Courses& courses, const Tolerance& tolerance) {
  std::vector<Row> rows;
  for (const auto algorithm : algorithms)
    for (const auto& column : table_2()) {
      const auto configuration = column.configuration(algorithm);
      const auto& course = courses.at(configuration);
      const auto kl = curve(course, &Distances::kl);
      Row row{.algorithm = algorithm,
              .column = column,
              .measured = {curve(course, &Distances::fi).least_mean(), kl.least_mean()},
              .kl_weights = mean_of(course.at[kl.least()].weight_kl),
              .prediction = predict(problem, configuration)};
      row.agrees = std::abs(row.measured.fi - row.prediction.fi) <= tolerance.at(row.prediction.fi);
      rows.push_back(row);
    }
  return rows;
}

std::vector<Check> make_checks(const std::vector<Row>& rows, const Courses& courses, const Tolerance& tolerance) {
  std::vector<Check> checks;
  for (const auto algorithm : algorithms)
    for (const auto sweep : sweeps) checks.push_back(monotone(rows, algorithm, sweep));
  for (const auto& row : rows)
    checks.push_back({fmt::format("{}, {} = {:g}: FI is the closed form's to {:.2g}", algorithm_name(row.algorithm),
                                  name(row.column.sweep), row.column.value, tolerance.at(row.prediction.fi)),
                      row.agrees, fmt::format("{:.4f} against {:.4f}", row.measured.fi, row.prediction.fi)});
  checks.push_back(inside_the_grid(courses));
  return checks;
}

TextTable table_2_layout(const std::vector<Row>& rows) {
  TextTable table{.header = {"", "", ""}, .rows = {}};
  for (const auto& column : table_2()) table.header.push_back(fmt::format("{} {:g}", name(column.sweep), column.value));
  using Number = double (*)(const Row&);
  const std::vector<std::pair<std::pair<const char*, const char*>, Number>> lines{
      {{"FI", "measured"}, [](const Row& row) { return row.measured.fi; }},
      {{"", "closed form"}, [](const Row& row) { return row.prediction.fi; }},
      {{"", "paper"}, [](const Row& row) { return row.column.paper(row.algorithm).fi; }},
      {{"KL", "measured"}, [](const Row& row) { return row.measured.kl; }},
      {{"", "of which weights"}, [](const Row& row) { return row.kl_weights; }},
      {{"", "closed form"}, [](const Row& row) { return row.prediction.kl(); }},
      {{"", "paper"}, [](const Row& row) { return row.column.paper(row.algorithm).kl; }}};
  for (const auto algorithm : algorithms)
    for (size_t line = 0; line < lines.size(); ++line) {
      const auto& [words, number] = lines[line];
      std::vector<std::string> cells{line == 0 ? algorithm_name(algorithm) : "", words.first, words.second};
      for (const auto& row : rows)
        if (row.algorithm == algorithm) cells.push_back(fmt::format("{:.4f}", number(row)));
      table.rows.push_back(cells);
    }
  return table;
}

TextTable all_cells(const std::vector<Row>& rows) {
  TextTable table{
      .header = {"algorithm", "sweep", "value", "FI", "FI closed form", "difference", "FI paper", "FI check", "KL",
                 "KL of weights", "KL in modes", "KL in modes closed form", "KL closed form", "KL paper"},
      .rows = {}};
  for (const auto& row : rows) {
    const auto& paper = row.column.paper(row.algorithm);
    table.rows.push_back(
        {algorithm_name(row.algorithm), name(row.column.sweep), fmt::format("{:g}", row.column.value),
         fmt::format("{:.5f}", row.measured.fi), fmt::format("{:.5f}", row.prediction.fi),
         fmt::format("{:+.1f} %", 100 * row.difference()), fmt::format("{:.4f}", paper.fi),
         row.agrees ? "pass" : "FAIL", fmt::format("{:.4f}", row.measured.kl), fmt::format("{:.4f}", row.kl_weights),
         fmt::format("{:.4f}", row.measured.kl - row.kl_weights), fmt::format("{:.4f}", row.prediction.kl_modes),
         fmt::format("{:.4f}", row.prediction.kl()), fmt::format("{:.4f}", paper.kl)});
  }
  return table;
}

TextTable all_curves(const Courses& courses) {
  TextTable table{.header = {"algorithm", "gamma", "sigma_min", "eps_max", "iteration"}, .rows = {}};
  const std::vector<std::pair<std::string, std::vector<double> Distances::*>> quantities{
      {"fi", &Distances::fi}, {"kl", &Distances::kl}, {"kl_weights", &Distances::weight_kl}};
  for (const auto& [quantity, member] : quantities)
    for (const auto* part : {"mean", "min", "max"}) table.header.push_back(quantity + "_" + part);
  for (const auto& [configuration, course] : courses)
    for (size_t i = 0; i < course.k.size(); ++i) {
      std::vector<std::string> line{algorithm_name(configuration.discretization)};
      for (const double number : {configuration.gamma, configuration.sigma_min, configuration.eps_max})
        line.push_back(fmt::format("{:g}", number));
      line.push_back(fmt::format("{}", course.k[i]));
      for (const auto& [quantity, member] : quantities) {
        const auto values = curve(course, member);
        for (const auto* part : {&values.mean, &values.low, &values.high})
          line.push_back(fmt::format("{:.6g}", (*part)[i]));
      }
      table.rows.push_back(line);
    }
  return table;
}

}  // namespace penumbra::app::validation_2d
