#include "report/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "report/html.h"
#include "report/marks.h"

namespace penumbra::report {
namespace {

constexpr double font = 13, gap = 8;
constexpr size_t palette_size = 6;
constexpr std::array<const char*, palette_size> palette{"#2468b0", "#c8601a", "#1b8a6b",
                                                        "#8250a8", "#b8385e", "#6b7280"};

/// Estimated, for no font is at hand; generous for a sans serif.
double text_width(const std::string& text) { return 0.58 * font * static_cast<double>(text.size()); }

class Drawing {
 public:
  Drawing(const Chart& chart, bool standalone);
  std::string draw();

 private:
  struct Box {
    double left = 0, top = 0, right = 0, bottom = 0;
  };

  std::string colour(const char* variable, const char* fallback) const;
  std::string colour_of(size_t series) const;
  void text(double x, double y, const std::string& words, const std::string& more, bool quiet = true);
  void legend();
  void axes();
  void references();

  const Chart& chart_;
  bool standalone_;
  Scale x_, y_;
  double height_;
  Box box_;
  std::vector<double> x_ticks_, y_ticks_;
  std::string out_;
};

void check(const Series& s) {
  const auto points = s.mark == Mark::bars ? std::max<size_t>(s.x.size(), 1) - 1 : s.x.size();
  if ((!s.y.empty() && s.y.size() != points) || s.low.size() != s.high.size() ||
      (!s.low.empty() && s.low.size() != s.x.size()))
    input_error("chart: series '{}' has {} x, {} y, {} low and {} high values", s.name, s.x.size(), s.y.size(),
                s.low.size(), s.high.size());
}

std::vector<double> all_x(const Chart& chart) {
  std::vector<double> values;
  for (const auto& s : chart.series) values.insert(values.end(), s.x.begin(), s.x.end());
  return values;
}

std::vector<double> all_y(const Chart& chart) {
  std::vector<double> values;
  for (const auto& s : chart.series) {
    check(s);
    for (const auto* part : {&s.y, &s.low, &s.high}) values.insert(values.end(), part->begin(), part->end());
    if (s.mark == Mark::bars) values.push_back(0);
  }
  for (const auto& reference : chart.references) values.push_back(reference.y);
  return values;
}

bool any_points(const Chart& chart) {
  return std::any_of(chart.series.begin(), chart.series.end(), [](const Series& s) { return s.mark == Mark::points; });
}

bool only_bars(const Chart& chart) {
  return !chart.series.empty() &&
         std::all_of(chart.series.begin(), chart.series.end(), [](const Series& s) { return s.mark == Mark::bars; });
}

Axis from_zero(Axis axis) {
  if (!axis.low && !axis.log) axis.low = 0;
  return axis;
}

Drawing::Drawing(const Chart& chart, bool standalone)
    : chart_(chart),
      standalone_(standalone),
      x_(chart.x, all_x(chart), any_points(chart) ? 0.04 : 0),
      y_(only_bars(chart) ? from_zero(chart.y) : chart.y, all_y(chart), 0.05),
      height_(chart.height) {}

std::string Drawing::colour(const char* variable, const char* fallback) const {
  // The page's "save SVG" button turns the first form into the second.
  return standalone_ ? fallback : fmt::format("var(--{},{})", variable, fallback);
}

std::string Drawing::colour_of(size_t series) const {
  const auto chosen = chart_.series[series].colour;
  const auto index = (chosen >= 0 ? static_cast<size_t>(chosen) : series) % palette_size;
  return colour(fmt::format("series-{}", index).c_str(), palette[index]);
}

void Drawing::text(double x, double y, const std::string& words, const std::string& more, bool quiet) {
  out_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {} style=\"fill:{}\">{}</text>\n", x, y, more,
                      quiet ? colour("quiet", "#4b5563") : colour("ink", "#1b1f24"), escape(words));
}

void Drawing::legend() {
  double x = box_.left;
  for (size_t i = 0; i < chart_.series.size(); ++i) {
    const auto& s = chart_.series[i];
    if (s.name.empty()) continue;
    const auto width = 24 + text_width(s.name) + 12;
    if (x > box_.left && x + width > chart_.width - gap) {
      x = box_.left;
      box_.top += font + 6;
    }
    const auto paint = colour_of(i);
    const auto y = box_.top + font / 2;
    if (!s.low.empty() || s.mark == Mark::bars)
      out_ +=
          fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"18\" height=\"10\" style=\"fill:{};opacity:.25\"/>\n", x,
                      y - 5, paint);
    if (s.mark == Mark::points)
      out_ += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\" style=\"fill:{}\"/>\n", x + 9, y, paint);
    if (s.mark == Mark::line && !s.y.empty())
      out_ += fmt::format(
          "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" style=\"stroke:{};stroke-width:2{}\"/>\n", x,
          y, x + 18, y, paint, s.dashed ? ";stroke-dasharray:5 3" : "");
    text(x + 24, y + 0.35 * font, s.name, "", false);
    x += width;
  }
  if (x > box_.left) box_.top += font + gap;
}

void Drawing::axes() {
  const auto line = [&](double x1, double y1, double x2, double y2, const std::string& paint) {
    out_ += fmt::format(
        "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" style=\"stroke:{};stroke-width:1\"/>\n", x1, y1,
        x2, y2, paint);
  };
  const auto grid = colour("grid", "#e3e6ea");
  const auto frame = colour("frame", "#8b949e");
  const auto x_words = x_.labels(x_ticks_), y_words = y_.labels(y_ticks_);
  for (size_t i = 0; i < x_ticks_.size(); ++i) {
    const auto x = x_(x_ticks_[i]);
    line(x, box_.top, x, box_.bottom, grid);
    text(x, box_.bottom + font + 4, x_words[i], "text-anchor=\"middle\"");
  }
  for (size_t i = 0; i < y_ticks_.size(); ++i) {
    const auto y = y_(y_ticks_[i]);
    line(box_.left, y, box_.right, y, grid);
    text(box_.left - 6, y + 0.35 * font, y_words[i], "text-anchor=\"end\"");
  }
  line(box_.left, box_.bottom, box_.right, box_.bottom, frame);
  line(box_.left, box_.top, box_.left, box_.bottom, frame);
  text((box_.left + box_.right) / 2, box_.bottom + 2 * font + gap, chart_.x.label, "text-anchor=\"middle\"", false);
  const auto middle = (box_.top + box_.bottom) / 2;
  text(font, middle, chart_.y.label,
       fmt::format("text-anchor=\"middle\" transform=\"rotate(-90 {:.1f} {:.1f})\"", font, middle), false);
}

void Drawing::references() {
  for (const auto& reference : chart_.references) {
    if (!y_.shows(reference.y)) continue;
    const auto y = y_(reference.y);
    if (y < box_.top - 1 || y > box_.bottom + 1) continue;
    out_ += fmt::format(
        "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" style=\"stroke:{};stroke-width:1.2;"
        "stroke-dasharray:6 4\"/>\n",
        box_.left, y, box_.right, y, colour("ink", "#1b1f24"));
    // A halo in the background's colour keeps the words readable over a curve.
    const auto above = y - 5 > box_.top + font;
    out_ += fmt::format(
        "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\" style=\"fill:{};stroke:{};stroke-width:4;"
        "stroke-linejoin:round;paint-order:stroke\">{}</text>\n",
        box_.right - 4, above ? y - 5 : y + font + 2, colour("ink", "#1b1f24"), colour("card", "#ffffff"),
        escape(reference.label));
  }
}

std::string Drawing::draw() {
  x_ticks_ = x_.ticks(chart_.square ? 5 : 6);
  y_ticks_ = y_.ticks(5);
  double widest = 0;
  for (const auto& word : y_.labels(y_ticks_)) widest = std::max(widest, text_width(word));
  box_ = {.left = font + 14 + widest + 6,
          .top = gap,
          .right = chart_.width - 18.0,
          .bottom = chart_.height - 2 * font - gap - 8};
  if (standalone_ && !chart_.title.empty()) {
    text(box_.left, box_.top + font, chart_.title, "font-weight=\"600\"", false);
    box_.top += font + 2 * gap;
  }
  legend();
  if (chart_.square) {
    const auto missing = (box_.right - box_.left) - (box_.bottom - box_.top);
    box_.bottom += missing;
    height_ += missing;
  }
  x_.lay(box_.left, box_.right);
  y_.lay(box_.bottom, box_.top);
  axes();
  // An inner <svg> clips what leaves the axes without an id that would have to be unique on the page.
  out_ += fmt::format(
      "<svg x=\"{0:.1f}\" y=\"{1:.1f}\" width=\"{2:.1f}\" height=\"{3:.1f}\" viewBox=\"{0:.1f} {1:.1f} "
      "{2:.1f} {3:.1f}\">\n",
      box_.left, box_.top, box_.right - box_.left, box_.bottom - box_.top);
  for (size_t i = 0; i < chart_.series.size(); ++i) out_ += marks(chart_.series[i], x_, y_, colour_of(i));
  out_ += "</svg>\n";
  references();
  // In a page a chart grows with its column, up to where its letters would shout.
  const auto frame = standalone_ ? fmt::format("xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{:.0f}\"",
                                               chart_.width, height_)
                                 : fmt::format("style=\"max-width:{}px\"", chart_.width * 5 / 4);
  return fmt::format(
      "<svg {} viewBox=\"0 0 {} {:.0f}\" role=\"img\" aria-label=\"{}\" font-family=\"system-ui, 'DejaVu Sans', "
      "sans-serif\" font-size=\"{}\">\n<rect width=\"100%\" height=\"100%\" style=\"fill:{}\"/>\n{}</svg>\n",
      frame, chart_.width, height_, escape(chart_.title), font, colour("card", "#ffffff"), out_);
}

}  // namespace

std::string svg(const Chart& chart, bool standalone) { return Drawing(chart, standalone).draw(); }

Series histogram(const std::string& name, const std::vector<double>& values, int bins) {
  Series series{.name = name, .mark = Mark::bars};
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const auto value : values)
    if (std::isfinite(value)) low = std::min(low, value), high = std::max(high, value);
  if (!(low <= high)) return series;
  if (low == high) low -= 0.5, high += 0.5;
  for (int i = 0; i <= bins; ++i) series.x.push_back(std::lerp(low, high, static_cast<double>(i) / bins));
  series.y.assign(bins, 0);
  for (const auto value : values)
    if (std::isfinite(value)) ++series.y[std::min(static_cast<int>((value - low) / (high - low) * bins), bins - 1)];
  return series;
}

}  // namespace penumbra::report
