#include "report/marks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace penumbra::report {
namespace {

constexpr size_t most_points = 800;  ///< what a chart can show of one line

struct Pen {
  const Series& s;
  const Scale& x;
  const Scale& y;
  const std::string& colour;

  bool shows(size_t i, double value) const { return x.shows(s.x[i]) && y.shows(value); }
  std::string at(size_t i, double value) const { return fmt::format("{:.1f},{:.1f} ", x(s.x[i]), y(value)); }
};

size_t group_size(size_t count, size_t groups) { return count <= groups ? 1 : (count + groups - 1) / groups; }

/// Which points of a long line to draw: the lowest and the highest of each group of neighbours. A group with
/// nothing to show keeps its first point, which then makes a gap.
std::vector<size_t> thin(const Pen& pen) {
  const auto& y = pen.s.y;
  std::vector<size_t> kept;
  const auto group = y.size() <= most_points ? 1 : group_size(y.size(), most_points / 2);
  for (size_t begin = 0; begin < y.size(); begin += group) {
    size_t low = begin, high = begin;
    for (size_t i = begin; i < std::min(begin + group, y.size()); ++i) {
      if (!pen.shows(i, y[i])) continue;
      if (!pen.shows(low, y[low]) || y[i] < y[low]) low = i;
      if (!pen.shows(high, y[high]) || y[i] > y[high]) high = i;
    }
    kept.push_back(std::min(low, high));
    if (low != high) kept.push_back(std::max(low, high));
  }
  return kept;
}

std::string band(const Pen& pen) {
  std::string out, there, back;
  const auto flush = [&] {
    if (!there.empty())
      out += fmt::format("<polygon points=\"{}{}\" style=\"fill:{};opacity:.22\"/>\n", there, back, pen.colour);
    there.clear();
    back.clear();
  };
  const auto& s = pen.s;
  const auto group = group_size(s.x.size(), most_points);
  for (size_t begin = 0; begin < s.x.size(); begin += group) {
    const auto end = std::min(begin + group, s.x.size());
    const auto low = *std::min_element(s.low.begin() + begin, s.low.begin() + end);
    const auto high = *std::max_element(s.high.begin() + begin, s.high.begin() + end);
    if (!pen.shows(begin, low) || !pen.shows(begin, high)) {
      flush();
      continue;
    }
    there += pen.at(begin, low);
    back = pen.at(begin, high) + back;
  }
  flush();
  return out;
}

std::string line(const Pen& pen) {
  std::string path;
  bool down = false;
  for (const auto i : thin(pen)) {
    const bool shown = pen.shows(i, pen.s.y[i]);
    if (shown) path += (down ? 'L' : 'M') + pen.at(i, pen.s.y[i]);
    down = shown;
  }
  if (path.empty()) return {};
  return fmt::format(
      "<path d=\"{}\" style=\"fill:none;stroke:{};stroke-width:1.8;stroke-linejoin:round;stroke-linecap:round{}\"/>\n",
      path, pen.colour, pen.s.dashed ? ";stroke-dasharray:5 4" : "");
}

std::string points(const Pen& pen) {
  const auto& s = pen.s;
  const bool crowded = s.y.size() > 200;
  auto out = fmt::format("<g style=\"fill:{};opacity:{}\">\n", pen.colour, crowded ? 0.55 : 0.85);
  for (size_t i = 0; i < s.y.size(); i += group_size(s.y.size(), 4000))
    if (pen.shows(i, s.y[i]))
      out += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\"/>\n", pen.x(s.x[i]), pen.y(s.y[i]),
                         crowded ? 2 : 3.2);
  return out + "</g>\n";
}

std::string bars(const Pen& pen) {
  std::string out;
  const auto& s = pen.s;
  for (size_t i = 0; i < s.y.size(); ++i) {
    if (!pen.shows(i, s.y[i]) || !pen.x.shows(s.x[i + 1])) continue;
    const auto left = pen.x(s.x[i]), right = pen.x(s.x[i + 1]), top = pen.y(s.y[i]);
    // A logarithmic axis has no zero: its bars stand on the lower edge.
    const auto base = pen.y.shows(0) ? pen.y(0) : pen.y.start();
    out += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" style=\"fill:{};opacity:.6\"/>\n",
        left + 0.5, std::min(top, base), std::max(right - left - 1, 0.5), std::abs(base - top), pen.colour);
  }
  return out;
}

}  // namespace

std::string marks(const Series& series, const Scale& x, const Scale& y, const std::string& colour) {
  const Pen pen{series, x, y, colour};
  auto out = series.low.empty() ? std::string() : band(pen);
  if (series.y.empty()) return out;
  switch (series.mark) {
    case Mark::line:
      return out + line(pen);
    case Mark::points:
      return out + points(pen);
    case Mark::bars:
      return out + bars(pen);
  }
  return out;
}

}  // namespace penumbra::report
