/// The verdicts in words and the numbers behind them.
#include <fmt/format.h>

#include "report/number.h"
#include "report/run_course.h"

namespace penumbra::report {
namespace {

using nlohmann::json;
using Rows = std::vector<std::vector<Cell>>;

std::string shown(const std::optional<double>& value) { return value ? format_number(*value) : ""; }

/// "median 1.01, 95 % 1.03", from those that are there.
std::string list(const std::vector<std::pair<std::string, std::optional<double>>>& parts, int digits = 3) {
  std::string text;
  for (const auto& [name, value] : parts)
    if (value) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, format_number(*value, digits));
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
            expected + (tolerance.empty() ? "" : fmt::format(" +- {}", tolerance)),
            fmt::format("Chi squared per datum{}: do the samples explain the measurements to within their noise?",
                        count.empty() ? "" : " over " + count + " data"));
  }
  return rows;
}

/// Whether the chains agree, rest and are long enough.
Rows convergence_rows(const json& diagnostics) {
  const auto at = [&](const std::string& part, const std::string& key) { return number_at(diagnostics, {part, key}); };
  const auto either = [](std::optional<double> a, std::optional<double> b) { return a ? a : b; };
  Rows rows;
  const auto kind = text_at(diagnostics, {"rhat", "kind"});
  const auto threshold = shown(either(at("rhat", "threshold"), at("rhat", "threshold_p95")));
  add_row(
      rows, "R-hat" + (kind.empty() ? "" : " (" + kind + ")"),
      list({{"median", at("rhat", "median")}, {"95 % below", at("rhat", "p95")}, {"largest", at("rhat", "max")}}, 4),
      threshold.empty() ? "near 1" : "below " + threshold + " for 95 % of the pixels",
      "Do the chains agree with each other? 1 means that between them they vary no more than each does alone.");
  add_row(rows, "Drift", list({{"size in SD", at("drift", "size_in_sd")}, {"p", at("drift", "p")}}),
          "near 0, p not tiny",
          "Did the average still move while it was recorded? p is how often chance alone would move it so far.");
  add_row(rows, "Effective samples", list({{"median", at("ess", "median")}, {"smallest", at("ess", "min")}}),
          "the more the better", "How many independent samples the correlated ones are worth, pixel by pixel.");
  add_row(rows, "Monte Carlo error",
          list({{"of the mean", either(at("mcse", "mean_relative"), at("monte_carlo_error", "mean_over_sd"))},
                {"of the SD", either(at("mcse", "sd_relative"), at("monte_carlo_error", "sd_relative"))}}),
          "well below 1",
          "What a rerun with another seed would change: in the mean as a share of the SD, in the SD as a share of "
          "itself.");
  return rows;
}

Rows diagnostic_rows(const json& diagnostics) {
  const auto at = [&](const std::string& part, const std::string& key) { return number_at(diagnostics, {part, key}); };
  auto rows = convergence_rows(diagnostics);
  for (auto& row : misfit_rows(diagnostics)) rows.push_back(std::move(row));
  add_row(rows, "Stein discrepancy", list({{"squared", at("stein", "u_statistic")}, {"p", at("stein", "p")}}),
          list({{"below", at("stein", "threshold")}}),
          "Do the samples follow the posterior's own score? Sees a mean that is wrong in stiff directions; a wrong SD "
          "only with many samples for the "
          "number of unknowns; wrong weights of separate modes hardly.");
  const auto limit = at("step", "stability_limit"), theorem = at("step", "theorem_limit");
  add_row(rows, "Acceptance", shown(at("step", "acceptance")), "0.2 to 0.9",
          "The share of the proposed steps that the Metropolis test took.");
  add_row(rows, "Step size", shown(at("step", "step_size")),
          list({{"stable below", limit}, {"theorem below", theorem}}),
          "Above the first limit the chain blows up; below the second the convergence theorem speaks about it.");
  const auto bias = [&](const std::string& key) { return number_at(diagnostics, {"step", "bias", key}); };
  add_row(
      rows, "Step-size bias",
      list({{"variance times", bias("variance_excess") ? std::optional(1 + *bias("variance_excess")) : std::nullopt},
            {"mean shifted by SDs", bias("mean_shift_in_sd")}}),
      list({{"half of it at step size", bias("halving_step_size")}}),
      "What steps of this length do to the stiffest direction of a Gaussian mode with the curvatures measured here; "
      "the exact law, without the Monte Carlo error.");
  add_row(rows, "Lipschitz constants",
          list({{"likelihood", at("step", "lipschitz_likelihood")}, {"prior", at("step", "lipschitz_prior")}}), "",
          "How fast the two gradients can change; the limits of the step size follow from them.");
  return rows;
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

}  // namespace penumbra::report
