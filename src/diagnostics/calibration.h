/// Whether a sampler's uncertainties are right on average over truths of the prior: ranks (simulation-based
/// calibration, Talts et al. 2018, arXiv:1804.06788) and expected coverage of credible regions (TARP, Lemos et al.
/// 2023, arXiv:2302.03026).
///
/// If the truth is a draw of the prior, the data of the likelihood and x_1..x_L independent draws of the posterior,
/// then truth and draws are exchangeable: the rank of any function of the truth among those of the draws is uniform in
/// 0..L.
#pragma once

#include <string>
#include <vector>

#include "core/tensor.h"

namespace penumbra::diagnostics {

/// Where the truth of one simulation stands among its L draws; all [statistics], float64.
struct Standing {
  Tensor truth;
  Tensor mean, sd;  ///< of the draws
  Tensor rank;      ///< draws below the truth, 0..L; among equals one of their places at random
  Tensor place;     ///< (rank + U) / (L + 1): uniform in (0, 1) for any L
};

/// truth [statistics], draws [L, statistics], uniform [2, statistics] in (0, 1) for ties and places.
Standing standing(const Tensor& truth, const Tensor& draws, const Tensor& uniform);

/// TARP: the share of draws nearer to the reference than the truth is, as a place in (0, 1); `uniform` is in (0, 1).
/// truth and reference [n], draws [L, n], all in coordinates of like scale.
double tarp_place(const Tensor& truth, const Tensor& draws, const Tensor& reference, double uniform);

/// (truth - mean) / sd, scaled so that its mean square is 1 over Gaussian posteriors of which L draws are known; NaN
/// where the draws do not differ or are fewer than 4.
Tensor standardised_error(const Standing& standing, int64_t draws);

/// All simulations.
struct Standings {
  Tensor place, z;  ///< [simulations, statistics]
  Tensor tarp;      ///< [simulations]
};

/// One statistic over all simulations.
struct StatisticCalibration {
  std::vector<int64_t> histogram;  ///< of the places, in equal bins
  double p = 1;                    ///< chi-square, of a uniform histogram
  double coverage_90 = 0;          ///< of central intervals
  double bias = 0;                 ///< mean of z
  double spread = 1;               ///< SD of z: above 1 the draws are too narrow
  double ratio = 1;                ///< root mean square of z
};

/// Coverage of credible regions against what they claim. A calibrated sampler's is between low and high with 95 %
/// probability at each level.
struct CoverageCurve {
  std::vector<double> nominal, measured, low, high;
};

struct Calibration {
  int64_t simulations = 0;
  std::vector<StatisticCalibration> statistics;
  int64_t allowed_uneven = 0;  ///< statistics with p below 0.01 that chance makes, see rank_histogram.h
  CoverageCurve intervals;     ///< central ones, over all statistics
  CoverageCurve tarp;
  double tarp_p = 1;  ///< chi-square
  double coverage_90 = 0, coverage_90_error = 0;
  double ratio = 1, ratio_error = 0;  ///< root mean square of z over all statistics; NaN where no z is known
};

Calibration calibration(const Standings& standings);

struct CalibrationVerdict {
  bool calibrated = false;
  std::string word;       ///< calibrated, undecided, or what is wrong: "biased and over-confident"
  std::string level;      ///< good | note | warning | bad
  std::string text;       ///< the same as a sentence with its numbers
  std::string criterion;  ///< what calibrated means here
  int64_t uneven = 0;     ///< statistics with p below 0.01
};

CalibrationVerdict calibration_verdict(const Calibration& calibration);

}  // namespace penumbra::diagnostics
