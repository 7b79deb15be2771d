#include "app/experiments/validation_2d/evaluation.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <cmath>

#include "theory/divergence.h"
#include "theory/mixture_fit.h"

namespace penumbra::app::validation_2d {
namespace {

/// The fit's weights in the order of the posterior's two modes: whichever pairing moves the means less.
std::vector<double> matched_weights(const theory::Mixture& fit, const theory::Mixture& posterior) {
  const auto cost = at::cdist(posterior.means, fit.means).square();
  const bool swapped = (cost[0][1] + cost[1][0]).item<double>() < (cost[0][0] + cost[1][1]).item<double>();
  const double first = fit.weights[swapped ? 1 : 0].item<double>();
  return {first, 1 - first};
}

}  // namespace

double weight_divergence(const std::vector<double>& q, const std::vector<double>& w) {
  double kl = 0;
  for (size_t j = 0; j < q.size(); ++j)
    if (q[j] > 0) kl += q[j] * std::log(q[j] / w[j]);
  return kl;
}

Distances distances(const Tensor& samples, const std::vector<theory::Mixture>& posteriors) {
  const auto count = posteriors.size();
  Distances result;
  for (auto* part : {&result.fi, &result.kl, &result.weight_kl, &result.first_weight}) part->assign(count, NAN);
  at::parallel_for(0, static_cast<int64_t>(count), 1, [&](int64_t begin, int64_t end) {
    for (auto r = static_cast<size_t>(begin); r < static_cast<size_t>(end); ++r) {
      const auto points = samples[static_cast<int64_t>(r)];
      // Large steps leave the grid while alpha_k is large; a fit to points at 1e20 would only cost time.
      if (points.abs().max().item<double>() > 10 * theory::Grid{}.x_high) continue;
      const auto& posterior = posteriors[r];
      const auto fit = theory::fit_mixture(points).mixture;
      const auto grid = theory::grid_divergence(fit, posterior);
      if (std::abs(grid.mass - 1) > 1e-3) continue;
      const auto weights = matched_weights(fit, posterior);
      result.fi[r] = grid.fisher_information;
      result.kl[r] = grid.kl;
      result.first_weight[r] = weights[0];
      result.weight_kl[r] =
          weight_divergence(weights, {posterior.weights[0].item<double>(), posterior.weights[1].item<double>()});
    }
  });
  return result;
}

}  // namespace penumbra::app::validation_2d
