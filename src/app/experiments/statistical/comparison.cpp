#include "app/experiments/statistical/comparison.h"

#include <ATen/ATen.h>

#include <cmath>

namespace penumbra::app::statistical {
namespace {

/// count d^T C^-1 d is chi^2 with n degrees of freedom if d is the error of a mean over `count` draws of N(0, C).
double mean_z(const Tensor& d, const Tensor& C, int64_t count) {
  const auto solved = at::cholesky_solve(d.unsqueeze(1), at::linalg_cholesky(C)).squeeze(1);
  const auto n = static_cast<double>(d.size(0));
  return (static_cast<double>(count) * d.dot(solved).item<double>() - n) / std::sqrt(2 * n);
}

/// The trace of a sample covariance has the variance 2 tr(C^2) / (count - 1).
double trace_z(double trace, const Tensor& C, int64_t count) {
  const double sd = std::sqrt(2 * C.square().sum().item<double>() / static_cast<double>(count - 1));
  return (trace - C.trace().item<double>()) / sd;
}

double rms(const Tensor& x) { return x.square().mean().sqrt().item<double>(); }

ModeComparison compare_mode(const ModeLaws& exact, const ModeLaws& law, size_t mode, const Tensor& x) {
  ModeComparison result;
  result.count = x.size(0);
  if (result.count < 2) return result;
  const auto count = static_cast<double>(result.count);
  result.mean = x.mean(0);
  const auto variance = x.var(0, /*unbiased=*/true);
  result.sd = variance.sqrt();
  const double scale = exact.trace(), trace = variance.sum().item<double>();
  const auto from_exact = result.mean - exact.means[mode];
  result.mean_error = from_exact.norm().item<double>() / std::sqrt(scale);
  const double bias2 = (law.means[mode] - exact.means[mode]).square().sum().item<double>();
  result.mean_error_expected = std::sqrt((bias2 + law.trace() / count) / scale);
  result.mean_z_law = mean_z(result.mean - law.means[mode], law.covariance, result.count);
  result.mean_z_exact = mean_z(from_exact, exact.covariance, result.count);
  result.trace_ratio = trace / scale;
  result.trace_ratio_expected = law.trace() / scale;
  result.trace_z_law = trace_z(trace, law.covariance, result.count);
  result.trace_z_exact = trace_z(trace, exact.covariance, result.count);
  result.sd_ratio = (result.sd / exact.sd()).mean().item<double>();
  result.sd_error_law = rms(result.sd / law.sd() - 1) * std::sqrt(2 * (count - 1));
  return result;
}

}  // namespace

double Comparison::log_odds_error(double exact) const { return std::log(weight / (1 - weight)) - exact; }

Moments overall(const ModeLaws& laws, double weight) {
  const auto mean = weight * laws.means[0] + (1 - weight) * laws.means[1];
  const auto between = weight * (1 - weight) * (laws.means[1] - laws.means[0]).square();
  return {mean, (laws.covariance.diagonal() + between).sqrt()};
}

Tensor axis_position(const ModeLaws& exact, const Tensor& x) {
  const auto d = exact.means[1] - exact.means[0];
  return (x - exact.means[0]).mv(d) / d.dot(d);
}

Comparison compare(const Setting& setting, const Laws& laws, const Algorithm& algorithm, Samples samples) {
  const auto& x = samples.x;
  const auto& law = laws.stationary.at(algorithm.discretization);
  Comparison result;
  result.algorithm = algorithm;
  result.samples = samples;
  const auto second = axis_position(laws.exact, x) > 0.5;
  result.modes = {compare_mode(laws.exact, law, 0, x.index({second.logical_not()})),
                  compare_mode(laws.exact, law, 1, x.index({second}))};
  result.mean = x.mean(0);
  result.sd = x.std(0, /*unbiased=*/true);

  const auto chains = static_cast<double>(x.size(0));
  const double w = result.weight = static_cast<double>(result.modes[0].count) / chains, exact = setting.weight(0);
  result.weight_error = std::sqrt(w * (1 - w) / chains);
  result.weight_z = (w - exact) / std::sqrt(exact * (1 - exact) / chains);
  const auto truth = overall(laws.exact, exact), implied = overall(law, w);
  result.overall_mean_error = rms(result.mean - truth.mean);
  result.overall_sd_error = rms(result.sd - truth.sd);
  result.overall_mean_error_law = rms(result.mean - implied.mean);
  result.overall_sd_error_law = rms(result.sd - implied.sd);
  return result;
}

}  // namespace penumbra::app::statistical
