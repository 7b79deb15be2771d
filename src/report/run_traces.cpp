/// Charts of trace.csv.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "report/run_course.h"

namespace penumbra::report {
namespace {

bool has(const RunFolder& run, const std::string& name) {
  const auto found = run.trace.find(name);
  return found != run.trace.end() &&
         std::any_of(found->second.begin(), found->second.end(), [](double value) { return std::isfinite(value); });
}

bool varies(const RunFolder& run, const std::string& name) {
  const auto& values = run.trace.at(name);
  return std::any_of(values.begin(), values.end(), [&](double value) { return value != values.front(); });
}

/// More than a factor of 10 between the extremes, all positive: a linear axis would hide the small ones.
bool wants_log(const std::vector<double>& values) {
  double low = INFINITY, high = 0;
  for (const auto value : values) {
    if (!std::isfinite(value)) continue;
    if (value <= 0) return false;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  return high > 10 * low;
}

class Traces {
 public:
  explicit Traces(const RunFolder& run) : run_(run) {}

  /// A chart of those of the columns that the trace has; columns <name>_min and <name>_max become a band.
  Chart* add(const std::string& title, const std::string& y_label, const std::vector<std::string>& names,
             const std::string& caption) {
    Chart chart{.title = title, .x = {.label = "iteration", .low = 0}, .y = {.label = y_label}};
    for (const auto& name : names) {
      seen_.insert({name, name + "_min", name + "_max"});
      if (!has(run_, name)) continue;
      const auto& values = run_.trace.at(name);
      chart.y.log = chart.y.log || wants_log(values);
      Series series{.name = names.size() > 1 ? name : "", .x = run_.trace.at("iteration"), .y = values};
      if (has(run_, name + "_min") && has(run_, name + "_max")) {
        series.low = run_.trace.at(name + "_min");
        series.high = run_.trace.at(name + "_max");
      }
      chart.series.push_back(series);
    }
    if (chart.series.empty()) return nullptr;
    figures_.push_back(Plot{chart, caption});
    return &std::get<Plot>(figures_.back()).chart;
  }

  /// Columns that no chart has shown yet and that say something.
  std::vector<std::string> rest() const {
    std::vector<std::string> names;
    for (const auto& name : run_.trace_names)
      if (!seen_.contains(name) && name != "iteration" && has(run_, name) && varies(run_, name)) names.push_back(name);
    return names;
  }

  std::vector<Figure> take() { return std::exchange(figures_, {}); }

 private:
  const RunFolder& run_;
  std::vector<Figure> figures_;
  std::set<std::string> seen_;
};

}  // namespace

void add_traces(Page& page, const RunFolder& run) {
  if (!has(run, "iteration")) return;
  page.section("The course of the run", "One point per traced iteration; numbers of several chains are their mean.");
  Traces traces(run);
  if (auto* chart = traces.add("Data misfit", "chi squared per datum", {"chi2"},
                               "Squared residuals over their expected size. Near 1 the samples fit the data as well "
                               "as the noise allows; far above they do not, far below they fit the noise."))
    chart->references.push_back({1, "expected: 1"});
  traces.add("Spread of the chains", "SD over chains", {"spread"},
             "Mean over pixels of the standard deviation over chains. It should settle, not drift or collapse.");
  traces.add("Objective", "nats", {"objective"},
             "What the method minimises, estimated anew in every step: up to a constant the divergence of its "
             "approximation from the posterior.");
  traces.add(
      "Acceptance", "share of the proposals", {"acceptance"},
      "How many of the proposed steps the Metropolis test takes: near 0 the chains stand still, near 1 they could "
      "take longer steps.");
  traces.add("Annealing", "sigma, alpha", {"sigma", "alpha"},
             "Noise level of the score and weight of the prior. Samples count once both have reached their end.");
  traces.add("Largest value", "max |x|", {"max_abs"},
             "The largest absolute pixel of any chain. Growth without end is how a run diverges.");
  page.figures(traces.take(), Size::large);
  traces.add("Gradient and score", "Euclidean norm", {"gradient_norm", "score_norm"},
             "Mean over chains of the two forces that hold each other's balance.");
  traces.add("Time", "seconds since the start (s)", {"seconds"}, "");
  for (const auto& name : traces.rest()) traces.add(name, name, {name}, "");
  if (auto figures = traces.take(); !figures.empty())
    page.details("Everything else that was traced", [&](Page& p) { p.figures(figures, Size::large); });
}

}  // namespace penumbra::report
