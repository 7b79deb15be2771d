/// Comparison of a posterior's summary with the true image, where there is one.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

#include "core/tensor.h"

namespace penumbra::diagnostics {

/// What is compared: maps [C, H, W] and independent draws [N, C, H, W].
struct Estimate {
  Tensor mean, sd, samples;
};

/// Lowest and highest value a pixel can have, as the prior says.
struct PixelRange {
  double low = -1, high = 1;
};

/// How often the truth lies in the central interval that should hold it with probability `nominal`.
struct Coverage {
  double nominal;
  double empirical;
  /// What a right posterior gives with N draws: the interval between two of N quantiles (type 7) holds another draw
  /// with probability nominal (N - 1) / (N + 1), to first order. Compare `empirical` with this.
  double expected;
};

/// Means over the n pixels. A number that does not exist (an image smaller than the window, a constant map) is missing.
struct Metrics {
  double mse = 0, mae = 0;
  /// 10 log10(1 / mse): peak 1 on the [-1, 1] scale, mean clipped to the pixel range if there is one, as the paper's
  /// code does (its text has the peak max(x) and no clipping).
  double psnr_paper = 0;
  std::optional<PixelRange> clipped_to;
  /// 10 log10((max x - min x)^2 / mse) of the truth x, mean as it is: the usual convention.
  std::optional<double> psnr_range;
  /// Negative log-likelihood of a pixel, (1/n) sum[(x - mean)^2 / (2 sd^2) + log sd] + log(2 pi) / 2, sd from below
  /// at sd_floor. (The paper's formula lacks the bracket; its SD, too, is the unbiased one.)
  double nll = 0;
  int64_t floored_pixels = 0;  ///< where the floor was used; the NLL says little if there are any
  double coverage_3sd = 0;     ///< share of pixels with |x - mean| <= 3 sd; 0.9973 for a Gaussian of known SD
  double mean_sd = 0;
  std::vector<Coverage> calibration;                ///< at 10, 20, ..., 90, 95, 99 %; empty without draws
  std::optional<double> error_sd_rank_correlation;  ///< Spearman's, of |x - mean| and sd
  std::optional<double> ssim;                       ///< of the mean; data range as in ssim_data_range
  double ssim_data_range = 0;                       ///< the pixel range if given, else that of the truth
};

constexpr double sd_floor = 1e-6;

/// Throws unless all shapes agree with the truth's, [C, H, W]. `samples` may be undefined.
Metrics compare(const Tensor& truth, const Estimate& estimate, const std::optional<PixelRange>& range = {});

nlohmann::json to_json(const Metrics& metrics);

}  // namespace penumbra::diagnostics
