/// Samples against the exact posterior and against the law that the step size implies, mode by mode.
#pragma once

#include <array>
#include <vector>

#include "app/experiments/record.h"
#include "app/experiments/statistical/law.h"
#include "app/experiments/statistical/sampling.h"
#include "app/experiments/text_table.h"

namespace penumbra::app::statistical {

/// Of the chains in one mode. Errors of the mean are in units of sqrt(tr C), C the exact covariance; z are in units of
/// the Monte-Carlo error and normal with mean 0 and variance 1 if the law is the samples' law.
struct ModeComparison {
  int64_t count = 0;
  Tensor mean, sd;  ///< per pixel, [n]; undefined below two chains
  double mean_error = 0,
         mean_error_expected = 0;           ///< from the exact mean; expected: the law's bias and the Monte-Carlo error
  double mean_z_law = 0, mean_z_exact = 0;  ///< chi^2 of the mean over all pixels
  double trace_ratio = 0, trace_ratio_expected = 0;  ///< tr(sample covariance) / tr C
  double trace_z_law = 0, trace_z_exact = 0;
  double sd_ratio = 0;      ///< mean over pixels of sample SD / exact SD
  double sd_error_law = 0;  ///< rms over pixels of sample SD / law's SD - 1, in units of its Monte-Carlo error

  bool known() const { return count >= 10; }
};

struct Comparison {
  Algorithm algorithm;
  Samples samples;
  std::array<ModeComparison, 2> modes;
  Tensor mean, sd;                                              ///< of all samples
  double weight = 0, weight_error = 0;                          ///< of the first mode, and its binomial standard error
  double weight_z = 0;                                          ///< against the exact weight
  double overall_mean_error = 0, overall_sd_error = 0;          ///< rms over pixels, from the exact mixture
  double overall_mean_error_law = 0, overall_sd_error_law = 0;  ///< from the law's mixture with the sampled weights

  /// log(w / (1 - w)) minus the exact one; infinite where a mode has no chain.
  double log_odds_error(double exact) const;
};

Comparison compare(const Setting& setting, const Laws& laws, const Algorithm& algorithm, Samples samples);

/// Mean and SD per pixel of two modes with the first one's weight.
struct Moments {
  Tensor mean, sd;
};
Moments overall(const ModeLaws& laws, double weight);

/// Position along the axis between the exact modes, 0 and 1 at their means, [chains].
Tensor axis_position(const ModeLaws& exact, const Tensor& x);

std::vector<Check> make_checks(const Setting& setting, const std::vector<Comparison>& comparisons);

TextTable weights_table(const Setting& setting, const std::vector<Comparison>& comparisons);
TextTable modes_table(const std::vector<Comparison>& comparisons);
TextTable overall_table(const std::vector<Comparison>& comparisons);

}  // namespace penumbra::app::statistical
