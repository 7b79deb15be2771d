#include "diagnostics/metrics.h"

#include <ATen/ATen.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "diagnostics/quantiles.h"
#include "diagnostics/similarity.h"

namespace penumbra::diagnostics {
namespace {

Tensor on_cpu(const Tensor& x) { return x.detach().to(at::kCPU, at::kDouble); }

double mean_of(const Tensor& x) { return x.to(at::kDouble).mean().item<double>(); }

double decibel(double peak, double mse) { return 10 * std::log10(peak * peak / mse); }

void require_like(const Tensor& x, const Tensor& truth, const char* what) {
  if (!x.defined() || x.sizes() != truth.sizes())
    input_error("metrics: expected {} of the truth's shape {}, found {}", what, describe(truth.sizes()),
                x.defined() ? describe(x.sizes()) : "nothing");
}

std::vector<Coverage> calibration_curve(const Tensor& truth, const Tensor& samples) {
  const std::vector<double> levels{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99};
  std::vector<double> ends;
  for (const auto level : levels) ends.insert(ends.end(), {(1 - level) / 2, (1 + level) / 2});
  const auto q = quantiles(samples.unsqueeze(0), ends);  // the N draws as N chains with one record
  const auto N = static_cast<double>(samples.size(0));
  std::vector<Coverage> curve;
  for (size_t i = 0; i < levels.size(); ++i) {
    const auto low = q[static_cast<int64_t>(2 * i)], high = q[static_cast<int64_t>(2 * i + 1)];
    curve.push_back({levels[i], mean_of((truth >= low).logical_and(truth <= high)), levels[i] * (N - 1) / (N + 1)});
  }
  return curve;
}

}  // namespace

Metrics compare(const Tensor& true_image, const Estimate& estimate, const std::optional<PixelRange>& range) {
  if (true_image.dim() != 3 || true_image.numel() == 0)
    input_error("metrics: expected a truth [channels, height, width], found {}", describe(true_image.sizes()));
  require_like(estimate.mean, true_image, "a mean");
  require_like(estimate.sd, true_image, "an SD");
  if (range && !(range->low < range->high))
    input_error("metrics: expected a pixel range with low < high, found [{}, {}]", range->low, range->high);
  const auto truth = on_cpu(true_image), mean = on_cpu(estimate.mean), sd = on_cpu(estimate.sd);
  const auto error = truth - mean;

  Metrics m;
  m.mse = mean_of(error.square());
  m.mae = mean_of(error.abs());
  m.clipped_to = range;
  const auto clipped = range ? mean.clamp(range->low, range->high) : mean;
  m.psnr_paper = decibel(1, mean_of((truth - clipped).square()));
  const double spread = (truth.max() - truth.min()).item<double>();
  if (spread > 0) m.psnr_range = decibel(spread, m.mse);
  m.ssim_data_range = range ? range->high - range->low : spread;
  m.ssim = ssim(mean, truth, m.ssim_data_range);

  const auto floored = sd.clamp_min(sd_floor);
  m.nll = mean_of(error.square() / (2 * floored.square()) + floored.log()) + 0.5 * std::log(2 * M_PI);
  m.floored_pixels = (sd < sd_floor).sum().item<int64_t>();
  m.coverage_3sd = mean_of(error.abs() <= 3 * sd);
  m.mean_sd = mean_of(sd);
  m.error_sd_rank_correlation = rank_correlation(error.abs(), sd);
  if (!estimate.samples.defined()) return m;
  require_shape(estimate.samples, true_image.sizes().vec(), "metrics: samples");
  m.calibration = calibration_curve(truth, estimate.samples);
  return m;
}

nlohmann::json to_json(const Metrics& m) {
  const double missing = std::numeric_limits<double>::quiet_NaN();  // null in the file
  auto curve = nlohmann::json::array();
  for (const auto& [nominal, empirical, expected] : m.calibration)
    curve.push_back({{"nominal", nominal}, {"empirical", empirical}, {"expected_for_this_many_draws", expected}});
  const auto clipping = m.clipped_to ? fmt::format("clipped to [{}, {}]", m.clipped_to->low, m.clipped_to->high)
                                     : std::string("not clipped");
  return {{"mse", m.mse},
          {"mae", m.mae},
          {"psnr_paper",
           {{"db", m.psnr_paper}, {"convention", fmt::format("10 log10(1 / mse): peak 1, mean {}", clipping)}}},
          {"psnr_range",
           {{"db", m.psnr_range.value_or(missing)},
            {"convention", "10 log10((max - min)^2 / mse): peak is the range of the truth, mean not clipped"}}},
          {"ssim",
           {{"value", m.ssim.value_or(missing)},
            {"data_range", m.ssim_data_range},
            {"convention", "Gaussian window 11 x 11, SD 1.5, K1 0.01, K2 0.03, windows inside the image"}}},
          {"nll", {{"per_pixel", m.nll}, {"sd_floor", sd_floor}, {"floored_pixels", m.floored_pixels}}},
          {"coverage_3sd", m.coverage_3sd},
          {"mean_sd", m.mean_sd},
          {"error_sd_rank_correlation", m.error_sd_rank_correlation.value_or(missing)},
          {"calibration", curve}};
}

}  // namespace penumbra::diagnostics
