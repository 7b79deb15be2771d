/// The axis of a chart: which values it spans, where its ticks are, where a value lies on the paper.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace penumbra::report {

struct Axis {
  std::string label = {};  ///< with its unit, "time (s)"
  bool log = false;        ///< values that are not positive are left out
  std::optional<double> low = {}, high = {};
};

/// An axis fitted to data and laid on the paper from `start` to `end` (in SVG units).
class Scale {
 public:
  /// `margin` is the share of the span left free at either end that the axis does not fix itself.
  Scale(const Axis& axis, const std::vector<double>& values, double margin);

  void lay(double start, double end);
  /// Whether the value has a place at all: finite (and not absurdly large), and positive on a logarithmic axis.
  bool shows(double value) const;
  double start() const { return start_; }
  double operator()(double value) const;
  /// About as many ticks as asked for, within the axis.
  std::vector<double> ticks(int wanted) const;
  /// What stands beside them.
  std::vector<std::string> labels(const std::vector<double>& ticks) const;

 private:
  double warp(double value) const;
  bool log_;
  double low_ = 0, high_ = 1;  ///< in the warped coordinate: log10 on a logarithmic axis
  double start_ = 0, end_ = 1;
};

}  // namespace penumbra::report
