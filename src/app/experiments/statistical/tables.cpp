#include <fmt/format.h>

#include <cmath>

#include "app/experiments/statistical/comparison.h"

namespace penumbra::app::statistical {
namespace {

/// Several dozen numbers are judged, and chi^2 and traces are only nearly normal.
constexpr double largest_z = 5;

std::string signed_number(double value) {
  return std::isinf(value) ? (value > 0 ? "all" : "none") : fmt::format("{:+.2f}", value);
}

}  // namespace

std::vector<Check> make_checks(const Setting& setting, const std::vector<Comparison>& comparisons) {
  std::vector<Check> checks{{"the posterior has two separate modes", setting.separation > 10,
                             fmt::format("{:.0f} standard deviations apart", setting.separation)}};
  for (const auto& comparison : comparisons)
    for (size_t j = 0; j < 2; ++j) {
      const auto& mode = comparison.modes[j];
      if (!mode.known()) continue;
      const auto where = fmt::format("{}, mode {}", comparison.algorithm.name, j + 1);
      checks.push_back({where + ": the mean is the one that the step size implies",
                        std::abs(mode.mean_z_law) < largest_z, fmt::format("z = {:+.1f}", mode.mean_z_law)});
      checks.push_back({where + ": the variance is the one that the step size implies",
                        std::abs(mode.trace_z_law) < largest_z,
                        fmt::format("trace ratio {:.4f}, law {:.4f}, z = {:+.1f}", mode.trace_ratio,
                                    mode.trace_ratio_expected, mode.trace_z_law)});
    }
  return checks;
}

TextTable weights_table(const Setting& setting, const std::vector<Comparison>& comparisons) {
  TextTable table{.header = {"algorithm", "chains in mode 1", "weight of mode 1", "Monte-Carlo error", "exact weight",
                             "z", "log-odds error (nats)"},
                  .rows = {}};
  for (const auto& c : comparisons)
    table.rows.push_back({c.algorithm.name, fmt::format("{}", c.modes[0].count), fmt::format("{:.3f}", c.weight),
                          fmt::format("{:.3f}", c.weight_error), fmt::format("{:.3f}", setting.weight(0)),
                          fmt::format("{:+.1f}", c.weight_z), signed_number(c.log_odds_error(setting.log_odds))});
  return table;
}

TextTable modes_table(const std::vector<Comparison>& comparisons) {
  TextTable table{.header = {"algorithm, mode", "chains", "mean error", "expected", "z law", "z exact", "trace ratio",
                             "expected", "z law", "z exact", "SD ratio", "SD error"},
                  .rows = {}};
  for (const auto& c : comparisons)
    for (size_t j = 0; j < 2; ++j) {
      const auto& mode = c.modes[j];
      std::vector<std::string> row{fmt::format("{}, {}", c.algorithm.name, j + 1), fmt::format("{}", mode.count)};
      if (!mode.known()) {
        row.resize(table.header.size(), "-");
      } else {
        for (const double value : {mode.mean_error, mode.mean_error_expected})
          row.push_back(fmt::format("{:.4f}", value));
        for (const double z : {mode.mean_z_law, mode.mean_z_exact}) row.push_back(fmt::format("{:+.1f}", z));
        for (const double value : {mode.trace_ratio, mode.trace_ratio_expected})
          row.push_back(fmt::format("{:.4f}", value));
        for (const double z : {mode.trace_z_law, mode.trace_z_exact}) row.push_back(fmt::format("{:+.1f}", z));
        row.push_back(fmt::format("{:.3f}", mode.sd_ratio));
        row.push_back(fmt::format("{:.2f}", mode.sd_error_law));
      }
      table.rows.push_back(row);
    }
  return table;
}

TextTable overall_table(const std::vector<Comparison>& comparisons) {
  TextTable table{.header = {"algorithm", "mean, from exact", "mean, from law", "SD, from exact", "SD, from law"},
                  .rows = {}};
  for (const auto& c : comparisons)
    table.rows.push_back({c.algorithm.name, fmt::format("{:.4f}", c.overall_mean_error),
                          fmt::format("{:.4f}", c.overall_mean_error_law), fmt::format("{:.4f}", c.overall_sd_error),
                          fmt::format("{:.4f}", c.overall_sd_error_law)});
  return table;
}

}  // namespace penumbra::app::statistical
