#include "app/experiments/validation_2d/closed_form.h"

#include <cmath>
#include <limits>

#include "theory/divergence.h"
#include "theory/gaussian_law.h"

namespace penumbra::app::validation_2d {
namespace {

/// The iteration at which sigma_k and alpha_k are read: far beyond the end of annealing.
constexpr int64_t late = 1000;

theory::LawStep final_step(const Configuration& configuration, double n) {
  return {.gamma = configuration.gamma,
          .annealing = schedule(configuration)->at(late),
          .discretization = configuration.discretization,
          // E|e|^2 of an error uniform in the n-ball.
          .score_noise = configuration.eps_max * configuration.eps_max * n / (n + 2)};
}

theory::Divergence in_mode(const Problem& problem, int64_t r, const Component& mode, const theory::LawStep& step) {
  const theory::LinearGaussian gaussian(
      {problem.A[r], problem.y, problem.beta * problem.beta, mode.mean, mode.covariance->dense()});
  const auto law = gaussian.stationary(step);
  if (!law) return {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN()};
  return theory::gaussian_divergence(*law, gaussian.posterior().mean, gaussian.posterior_precision());
}

}  // namespace

Prediction predict(const Problem& problem, const Configuration& configuration) {
  const auto step = final_step(configuration, static_cast<double>(problem.prior->dimension()));
  const auto& modes = problem.prior->components();
  const auto posteriors = problem.A.size(0);
  const double q = 1 / static_cast<double>(modes.size()), share = 1 / static_cast<double>(posteriors);
  Prediction mean;
  for (int64_t r = 0; r < posteriors; ++r) {
    const auto& w = problem.posteriors[static_cast<size_t>(r)].weights;
    for (size_t j = 0; j < modes.size(); ++j) {
      const auto divergence = in_mode(problem, r, modes[j], step);
      mean.fi += share * q * divergence.fisher_information;
      mean.kl_modes += share * q * divergence.kl;
      mean.kl_weights += share * q * std::log(q / w[static_cast<int64_t>(j)].item<double>());
    }
  }
  return mean;
}

}  // namespace penumbra::app::validation_2d
