/// The state of convergence of a run in a few numbers.
#pragma once

#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "core/tensor.h"
#include "diagnostics/drift.h"

namespace penumbra::diagnostics {

/// Medians, percentiles and extremes are over the pixels that move and are finite; NaN where a number does not exist.
struct Convergence {
  static constexpr double none = std::numeric_limits<double>::quiet_NaN();

  int64_t chains = 0, records = 0;
  int64_t pixels = 0, constant_pixels = 0, broken_pixels = 0;  ///< broken: some draw is not finite

  std::string rhat_kind = "none";  ///< split | nested | none
  double rhat_median = none, rhat_p95 = none, rhat_max = none;
  double rhat_threshold = none;  ///< for rhat_p95
  std::optional<double> split_rhat_p95, nested_rhat_p95;

  std::optional<EnsembleDrift> drift;

  double ess_median = none, ess_min = none;
  double mcse_mean_relative = none;  ///< median over pixels of the mean's standard error over the SD
  double mcse_sd_relative = none;    ///< median over pixels of the SD's standard error over the SD
};

/// From draws [T, chains, C, H, W]. R-hat is the split one for chains of 100 records or more, or too few chains to
/// group (under 16) and 4 records or more; else the nested one in about sqrt(chains) groups. Its threshold is 1.05
/// (split), or what exchangeable chains exceed once in a hundred times (nested).
Convergence assess(const Tensor& draws);

nlohmann::json to_json(const Convergence& convergence);

}  // namespace penumbra::diagnostics
