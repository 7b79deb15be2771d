#include "diagnostics/fitting.h"

#include <ATen/ATen.h>

#include <cmath>

namespace penumbra::diagnostics {

Fitting fitting_samples(const std::vector<TermFit>& fits) {
  constexpr double best = 0.1, deviations = 3;
  double data = 0;
  Tensor total;
  for (const auto& fit : fits) {
    const auto count = static_cast<double>(fit.data_count);
    const auto chi2 = count * fit.chi2.to(at::kCPU, at::kDouble);
    total = total.defined() ? total + chi2 : chi2;
    data += count;
  }
  Fitting result;
  if (!total.defined() || data == 0) return result;
  if (total.size(0) < fewest_to_choose_from) {
    for (int64_t i = 0; i < total.size(0); ++i) result.kept.push_back(i);
    return result;
  }
  const double can_be_had = total.quantile(best, 0, false, "lower").item<double>();
  const double most = std::max(data, can_be_had) * (1 + deviations * std::sqrt(2 / data));
  result.most = most / data;
  for (int64_t i = 0; i < total.size(0); ++i)
    (total[i].item<double>() <= most ? result.kept : result.left_out).push_back(i);
  return result;
}

}  // namespace penumbra::diagnostics
