/// The functions of an image whose ranks are taken: pixels, flux, projections and the log-likelihood.
#pragma once

#include <string>
#include <vector>

#include "core/settings.h"
#include "core/tensor.h"

namespace penumbra::app::calibration {

struct StatisticsPlan {
  int64_t pixels = 49;         ///< so many, chosen at random
  int64_t projections = 49;    ///< on so many random directions of length one
  bool flux = true;            ///< the mean of all pixels
  bool log_likelihood = true;  ///< the one that sees whether the data were used at all
};

/// A hundred in all by default.
StatisticsPlan statistics_setting(Settings& settings, const Shape& image_shape, bool has_data);

class Statistics {
 public:
  Statistics(const StatisticsPlan& plan, const Shape& image_shape, uint64_t seed);

  /// pixel_<row>_<column> (pixel_<channel>_<row>_<column> of several channels), flux, projection_<number>,
  /// log_likelihood.
  const std::vector<std::string>& names() const { return names_; }
  bool needs_likelihood() const { return log_likelihood_; }

  /// x [rows, image] and log l [rows], of which the latter may be undefined where it is not needed -> [rows,
  /// statistics], float64 on the CPU.
  Tensor operator()(const Tensor& x, const Tensor& log_likelihood) const;

 private:
  std::vector<std::string> names_;
  Tensor pixels_;      ///< indices
  Tensor directions_;  ///< [projections, n]
  bool flux_, log_likelihood_;
};

/// "pixel" of "pixel_3_4": what a name is one of.
std::string kind_of(const std::string& name);

}  // namespace penumbra::app::calibration
