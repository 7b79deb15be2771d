/// Algorithm 2 on all posteriors at once, with FI and KL along the way.
#pragma once

#include <cstdint>
#include <vector>

#include "app/experiments/validation_2d/evaluation.h"
#include "app/experiments/validation_2d/setting.h"

namespace penumbra::app::validation_2d {

struct Course {
  Configuration configuration;
  std::vector<int64_t> k;
  std::vector<Distances> at;
  double largest = 0;  ///< |x| of any chain at any time: the annealed steps are unstable at first (gamma alpha_0 > 2)
  double sampling_s = 0, evaluating_s = 0;
};

/// The same seed gives every configuration the same starts, noise and error directions (common random numbers), so
/// that differences between configurations are not the sampling's.
Course simulate(const Problem& problem, const Effort& effort, const Configuration& configuration, uint64_t seed);

/// One quantity over the iterations: mean, least and largest of the posteriors; NaN where one of them is not known.
struct Curve {
  std::vector<double> k, mean, low, high;

  /// Where the mean over the posteriors is least: Table 2's number.
  size_t least() const;
  double least_mean() const { return mean[least()]; }
};
Curve curve(const Course& course, std::vector<double> Distances::*quantity);

double mean_of(const std::vector<double>& values);

}  // namespace penumbra::app::validation_2d
