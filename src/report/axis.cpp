#include "report/axis.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "report/number.h"

namespace penumbra::report {
namespace {

/// Beyond it the span of an axis would leave the floating-point numbers.
constexpr double largest = 1e290;

/// Multiples of 1, 2 or 5 times a power of ten.
std::vector<double> linear_ticks(double low, double high, int wanted) {
  const auto rough = (high - low) / wanted;
  const auto power = std::pow(10, std::floor(std::log10(rough)));
  const auto lead = rough / power;
  const auto step = power * (lead < 1.5 ? 1 : lead < 3.5 ? 2 : lead < 7.5 ? 5 : 10);
  std::vector<double> ticks;
  const auto slack = 1e-9 * (high - low);
  for (auto i = std::ceil((low - slack) / step); i * step <= high + slack; ++i) ticks.push_back(i * step);
  return ticks;
}

/// Powers of ten, thinned where there are many, with 2 and 5 between where there are few.
std::vector<double> log_ticks(double low, double high, int wanted) {
  const auto slack = 1e-9 * (high - low);
  const auto first = static_cast<int>(std::ceil(low - slack)), last = static_cast<int>(std::floor(high + slack));
  std::vector<double> ticks;
  if (last - first >= 2) {
    const auto stride = std::max((last - first + wanted) / wanted, 1);
    for (auto power = first; power <= last; power += stride) ticks.push_back(std::pow(10, power));
    return ticks;
  }
  for (auto power = first - 1; power <= last; ++power)
    for (const double lead : {1, 2, 5}) {
      const auto tick = lead * std::pow(10, power);
      if (std::log10(tick) >= low - slack && std::log10(tick) <= high + slack) ticks.push_back(tick);
    }
  return ticks.size() >= 2 ? ticks : linear_ticks(std::pow(10, low), std::pow(10, high), wanted);
}

}  // namespace

Scale::Scale(const Axis& axis, const std::vector<double>& values, double margin) : log_(axis.log) {
  low_ = std::numeric_limits<double>::infinity();
  high_ = -low_;
  for (const auto value : values)
    if (shows(value)) {
      low_ = std::min(low_, warp(value));
      high_ = std::max(high_, warp(value));
    }
  if (!(low_ <= high_)) low_ = 0, high_ = 1;
  // At most ten decades, so that the margin stays within the floating-point numbers too.
  const auto free = std::min(margin * (high_ - low_), log_ ? 10.0 : largest);
  low_ = axis.low && shows(*axis.low) ? warp(*axis.low) : low_ - free;
  high_ = axis.high && shows(*axis.high) ? warp(*axis.high) : high_ + free;
  // A constant deserves an axis too; the same for a span that its values cannot resolve.
  const auto resolution = 1e-9 * std::max(std::abs(low_), std::abs(high_));
  if (high_ - low_ <= resolution) {
    const auto half = log_ ? 0.5 : std::max(0.5 * std::abs(low_), resolution > 0 ? 1e-12 : 0.5);
    low_ -= half;
    high_ += half;
  }
}

void Scale::lay(double start, double end) {
  start_ = start;
  end_ = end;
}

bool Scale::shows(double value) const { return std::abs(value) <= largest && (!log_ || value >= 1 / largest); }

double Scale::warp(double value) const { return log_ ? std::log10(value) : value; }

double Scale::operator()(double value) const {
  return start_ + (end_ - start_) * (warp(value) - low_) / (high_ - low_);
}

std::vector<double> Scale::ticks(int wanted) const {
  return log_ ? log_ticks(low_, high_, wanted) : linear_ticks(low_, high_, wanted);
}

std::vector<std::string> Scale::labels(const std::vector<double>& ticks) const {
  if (!log_) return format_ticks(ticks);
  std::vector<std::string> texts;
  for (const auto tick : ticks) texts.push_back(format_number(tick));
  return texts;
}

}  // namespace penumbra::report
