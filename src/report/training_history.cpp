/// Charts of history.csv.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/training_course.h"

namespace penumbra::report {
namespace {

/// A run of few rows shows each; a long one groups of some, or their medians would scatter like the rows.
size_t group_count(size_t rows) {
  return rows <= 60 ? std::max<size_t>(rows, 1) : std::clamp<size_t>(rows / 8, 40, 150);
}

bool finite_anywhere(const std::vector<double>& values) {
  return std::any_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
}

double quantile(const std::vector<double>& sorted, double share) {
  const auto place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(place);
  const auto above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
}

/// A figure of one column, if it is there.
void add_chart(std::vector<Figure>& figures, const TrainingFolder& run, const std::string& name, Chart chart,
               const std::string& caption) {
  const auto found = run.history.find(name);
  if (found == run.history.end() || !finite_anywhere(found->second)) return;
  const auto& steps = run.history.at("step");
  const auto curve = smooth(steps, found->second, group_count(steps.size()));
  const bool grouped = curve.step.size() < found->second.size();
  const StepAxis axis(steps);
  chart.x = axis.axis();
  chart.series.push_back({.x = axis(curve.step), .y = curve.middle});
  if (grouped) {
    chart.series.back().low = curve.low;
    chart.series.back().high = curve.high;
  }
  figures.push_back(Plot{chart, caption});
}

}  // namespace

StepAxis::StepAxis(const std::vector<double>& steps) {
  const auto last = steps.empty() ? 0 : *std::max_element(steps.begin(), steps.end());
  unit_ = last >= 5e6 ? 1e6 : last >= 5e3 ? 1e3 : 1;
}

Axis StepAxis::axis() const {
  return {.label = unit_ == 1 ? "step" : unit_ == 1e3 ? "thousands of steps" : "millions of steps", .low = 0};
}

std::vector<double> StepAxis::operator()(std::vector<double> steps) const {
  for (auto& step : steps) step /= unit_;
  return steps;
}

Smoothed smooth(const std::vector<double>& step, const std::vector<double>& value, size_t groups) {
  Smoothed curve;
  const auto count = std::min(step.size(), value.size());
  const auto size = std::max<size_t>((count + groups - 1) / groups, 1);
  for (size_t begin = 0; begin < count; begin += size) {
    std::vector<double> members;
    double steps = 0;
    for (size_t i = begin; i < std::min(begin + size, count); ++i) {
      if (!std::isfinite(value[i])) continue;
      members.push_back(value[i]);
      steps += step[i];
    }
    if (members.empty()) continue;
    std::sort(members.begin(), members.end());
    curve.step.push_back(steps / static_cast<double>(members.size()));
    curve.middle.push_back(quantile(members, 0.5));
    curve.low.push_back(quantile(members, 0.1));
    curve.high.push_back(quantile(members, 0.9));
  }
  return curve;
}

void add_history(Page& page, const TrainingFolder& run) {
  if (!finite_anywhere(run.history.at("loss"))) return;
  page.section("The course of the training",
               "Lines are medians of neighbouring steps, bands hold 80 % of them; short runs show every step.");
  std::vector<Figure> figures;
  add_chart(figures, run, "loss", {.title = "Training loss", .y = {.label = "loss", .log = true}},
            "Each step draws other images and noise levels, so single steps scatter: the median tells.");
  add_chart(figures, run, "gradient_norm", {.title = "Gradient", .y = {.label = "Euclidean norm", .log = true}},
            "Before it is clipped. Spikes are steps that would have gone too far.");
  page.figures(figures, Size::large);
  figures.clear();
  if (const auto rate = run.history.find("learning_rate"); rate != run.history.end() && finite_anywhere(rate->second)) {
    const StepAxis axis(run.history.at("step"));
    // A rule, not a measurement: drawn as it is.
    Chart chart{.title = "Learning rate", .x = axis.axis(), .y = {.label = "learning rate", .low = 0}};
    chart.series.push_back({.x = axis(run.history.at("step")), .y = rate->second});
    figures.push_back(Plot{chart, ""});
  }
  add_chart(figures, run, "images_per_second", {.title = "Speed", .y = {.label = "images per second", .low = 0}}, "");
  page.figures(figures, Size::large);
}

}  // namespace penumbra::report
