/// Charts of history.csv.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/training_course.h"

namespace penumbra::report {
namespace {

constexpr size_t most_groups = 150;

bool finite_anywhere(const std::vector<double>& values) {
  return std::any_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
}

/// Positive, and more than a factor of 10 between the extremes.
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
  const auto curve = smooth(run.history.at("step"), found->second, most_groups);
  const bool grouped = curve.step.size() < found->second.size();
  chart.x = {.label = "step", .low = 0};
  chart.series.push_back({.x = curve.step, .y = curve.middle});
  if (grouped) {
    chart.series.back().low = curve.low;
    chart.series.back().high = curve.high;
  }
  figures.push_back(Plot{chart, caption});
}

}  // namespace

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
  const auto column = [&](const std::string& name) {
    const auto found = run.history.find(name);
    return found == run.history.end() ? std::vector<double>() : found->second;
  };
  std::vector<Figure> figures;
  add_chart(figures, run, "loss",
            {.title = "Training loss", .y = {.label = "loss", .log = true}, .width = 640, .height = 340},
            "Each step draws other images and noise levels, so single steps scatter: the median tells.");
  add_chart(figures, run, "gradient_norm",
            {.title = "Gradient", .y = {.label = "Euclidean norm", .log = true}, .width = 640, .height = 340},
            "Before it is clipped. Spikes are steps that would have gone too far.");
  page.figures(figures, Size::large);
  figures.clear();
  add_chart(figures, run, "learning_rate",
            {.title = "Learning rate", .y = {.label = "learning rate", .log = wants_log(column("learning_rate"))}}, "");
  add_chart(
      figures, run, "images_per_second",
      {.title = "Speed", .y = {.label = "images per second", .log = wants_log(column("images_per_second")), .low = 0}},
      "");
  page.figures(figures, Size::large);
}

}  // namespace penumbra::report
