/// The numbers of a calibration in words; docs/calibration.md states the criterion.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "diagnostics/calibration.h"
#include "diagnostics/rank_histogram.h"

namespace penumbra::diagnostics {
namespace {

constexpr double hopeless = 0.001;  // over the number of statistics: a single p below that decides
constexpr double errors = 3;        // standard errors, for coverage, bias and spread
constexpr double tarp_p = 0.003;    // about as rare as three standard errors
constexpr double notable = 0.25;    // share of the uneven statistics that something must be wrong with to be named
constexpr int64_t fewest = 20;      // simulations

/// What is wrong with the statistics whose ranks are not uniform.
std::vector<std::string_view> faults(const Calibration& c) {
  const double N = static_cast<double>(c.simulations);
  double count = 0, biased = 0, narrow = 0, wide = 0;
  for (const auto& s : c.statistics) {
    if (s.p >= uneven_p) continue;
    ++count;
    // A comparison with NaN, where no z is known, is false.
    biased += std::abs(s.bias) * std::sqrt(N) > errors * s.spread;
    narrow += s.spread > 1 + errors / std::sqrt(2 * N);
    wide += s.spread < 1 - errors / std::sqrt(2 * N);
  }
  const double off = (c.coverage_90 - 0.9) / c.coverage_90_error;
  std::vector<std::string_view> words;
  if (count > 0 && biased >= notable * count) words.push_back("biased");
  if ((count > 0 && narrow >= notable * count) || off < -errors) words.push_back("over-confident");
  if ((count > 0 && wide >= notable * count) || off > errors) words.push_back("under-confident");
  return words;
}

std::string tenths_of_a_percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string numbers(const Calibration& c, int64_t uneven) {
  auto text = fmt::format(
      "the ranks of {} of {} statistics are not uniform (p < {:g}), 90 % intervals hold the truth in {} +- {} of the "
      "cases",
      uneven, c.statistics.size(), uneven_p, tenths_of_a_percent(c.coverage_90),
      tenths_of_a_percent(c.coverage_90_error));
  if (std::isfinite(c.ratio))
    text += fmt::format(", errors are {:.2f} +- {:.2f} times what the SDs say", c.ratio, c.ratio_error);
  return text;
}

std::string sentence(const std::vector<std::string_view>& faults) {
  std::string text;
  for (const auto& fault : faults) {
    if (fault == "biased") text += " Truths lie to one side of the draws.";
    if (fault == "over-confident") text += " The draws are too narrow: truths lie outside more often than they say.";
    if (fault == "under-confident") text += " The draws are too wide: truths lie further inside than they say.";
  }
  return text.empty() ? " Neither bias nor width explains it: the shape of the draws' law is wrong." : text;
}

}  // namespace

CalibrationVerdict calibration_verdict(const Calibration& c) {
  CalibrationVerdict v;
  const auto count = static_cast<int64_t>(c.statistics.size());
  double smallest = 1;
  for (const auto& s : c.statistics) {
    v.uneven += s.p < uneven_p;
    smallest = std::min(smallest, s.p);
  }
  v.criterion = fmt::format(
      "calibrated: chi-square p > {:g} for the ranks of at least {} of {} statistics and p > {:g} for each, the "
      "coverage of 90 % intervals within {:g} standard errors of 90 %, TARP's p > {:g}; at least {} simulations",
      uneven_p, count - c.allowed_uneven, count, hopeless / static_cast<double>(count), errors, tarp_p, fewest);
  const bool coverage_off = std::abs(c.coverage_90 - 0.9) > errors * c.coverage_90_error;
  const bool uneven = v.uneven > c.allowed_uneven || smallest < hopeless / static_cast<double>(count);
  v.calibrated = c.simulations >= fewest && !uneven && !coverage_off && c.tarp_p > tarp_p;
  if (v.calibrated) {
    v.word = "calibrated";
    v.level = "good";
    v.text = fmt::format("Calibrated, as far as {} simulations show: {}.", c.simulations, numbers(c, v.uneven));
    return v;
  }
  if (c.simulations < fewest) {
    v.word = "undecided";
    v.level = "note";
    v.text =
        fmt::format("Undecided: {} simulations are too few for a verdict; {}.", c.simulations, numbers(c, v.uneven));
    return v;
  }
  const auto wrong = faults(c);
  v.word = wrong.empty() ? "miscalibrated" : fmt::format("{}", fmt::join(wrong, " and "));
  v.level = "bad";
  v.text = fmt::format("Not calibrated, {}: {}; TARP's p is {:.2g}.{}", v.word, numbers(c, v.uneven), c.tarp_p,
                       sentence(wrong));
  return v;
}

}  // namespace penumbra::diagnostics
