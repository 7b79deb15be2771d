/// Charts as SVG: lines with bands, points and bars over linear or logarithmic axes.
#pragma once

#include <string>
#include <vector>

#include "report/axis.h"

namespace penumbra::report {

enum class Mark {
  line,
  points,
  bars,  ///< x holds the edges of the bars, one more than y
};

struct Series {
  std::string name = {};                    ///< in the legend; empty: not there
  std::vector<double> x = {}, y = {};       ///< what has no place on the axes (NaN, zero on a logarithm) is a gap
  std::vector<double> low = {}, high = {};  ///< a shaded band at x; y may then be empty
  Mark mark = Mark::line;
  bool dashed = false;
  int colour = -1;  ///< 0 to 5 in the palette; -1: the series' place in the chart
};

/// A dashed horizontal line with its name beside it.
struct Reference {
  double y = 0;
  std::string label = {};
};

struct Chart {
  std::string title = {};  ///< for screen readers and in a saved file; a page prints it as the figure's heading
  Axis x = {}, y = {};
  std::vector<Series> series = {};
  std::vector<Reference> references = {};
  int width = 480, height = 310;
  bool square = false;  ///< both axes of one length, whatever the height: for calibration and scatter
};

/// An <svg> element. In a page its colours follow the page's CSS variables (light, dark, print); `standalone` makes
/// a file: literal colours, white background, the title written out.
std::string svg(const Chart& chart, bool standalone = false);

/// Bars for the finite values, in bins of one width.
Series histogram(const std::string& name, const std::vector<double>& values, int bins = 30);

}  // namespace penumbra::report
