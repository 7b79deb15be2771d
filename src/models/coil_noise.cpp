#include "models/coil_noise.h"

#include <ATen/ATen.h>

namespace penumbra {
namespace {

/// P(G <= q) for G of the Gamma distribution with the whole-numbered shape n.
double gamma_below(int64_t n, double q) {
  double term = std::exp(-q), above = 0;
  for (int64_t i = 0; i < n; ++i, term *= q / static_cast<double>(i)) above += term;
  return 1 - above;
}

double gamma_median(int64_t n) {
  double low = 0, high = static_cast<double>(n);  // the median is below the mean
  for (int halving = 0; halving < 60; ++halving) {
    const double middle = (low + high) / 2;
    (gamma_below(n, middle) < 0.5 ? low : high) = middle;
  }
  return low;
}

}  // namespace

Tensor noise_covariance(const Tensor& noise) {
  const auto n = noise.to(at::kComplexDouble);
  return n.matmul(n.conj().t()) / (2.0 * static_cast<double>(n.size(1)));
}

Tensor robust_noise_covariance(const Tensor& samples) {
  const auto n = samples.to(at::kComplexDouble);
  const auto coils = n.size(0), half = (n.size(1) + 1) / 2;
  // n^H (2 Sigma)^-1 n has the Gamma distribution of shape `coils`; the half below its median has this much less.
  const double cut = gamma_below(coils + 1, gamma_median(coils)) / 0.5;
  // |n|^2 / 2 of one coil is exponential, with the median ln 2 times the variance.
  const auto variances = std::get<0>(at::abs(n).square().median(1)) / (2 * M_LN2);
  auto covariance = at::diag(variances).to(at::kComplexDouble);
  if (!variances.gt(0).all().item<bool>()) return covariance;  // a coil without noise: there is no distance
  for (int step = 0; step < 50; ++step) {
    const auto distance = at::real((n.conj() * at::linalg_solve(covariance, n)).sum(0));
    const auto nearest = std::get<1>(distance.topk(half, 0, /*largest=*/false));
    const auto next = noise_covariance(n.index_select(1, nearest)) / cut;
    const double change = ((next - covariance).norm() / covariance.norm()).item<double>();
    covariance = next;
    if (change < 1e-9) break;
  }
  return covariance;
}

Tensor outermost_samples(const Tensor& kspace, const Tensor& mask, double part) {
  const auto offset = [](int64_t size) {
    const auto half = static_cast<double>(size) / 2;
    return (at::arange(size, at::TensorOptions().dtype(at::kDouble)) - static_cast<double>(size / 2)) / half;
  };
  const auto radius2 = offset(mask.size(0)).square().unsqueeze(1) + offset(mask.size(1)).square();
  const auto points = mask.flatten().nonzero().squeeze(1);
  const auto count = static_cast<int64_t>(part * static_cast<double>(points.size(0)));
  const auto farthest = std::get<1>(radius2.flatten().index_select(0, points).topk(count));
  return kspace.flatten(1).index_select(1, points.index_select(0, farthest));
}

}  // namespace penumbra
