#include "app/experiments/statistical/law.h"

#include <ATen/ATen.h>

#include "core/error.h"

namespace penumbra::app::statistical {
namespace {

theory::LinearGaussian mode_problem(const Setting& setting, size_t mode) {
  const auto& [weight, mean, covariance] = setting.prior->components()[mode];
  const double beta = setting.parameters.beta;
  return theory::LinearGaussian({setting.A, setting.y, beta * beta, mean, covariance->dense()});
}

}  // namespace

Laws make_laws(const Setting& setting) {
  const std::array modes{mode_problem(setting, 0), mode_problem(setting, 1)};
  Laws laws;
  laws.exact = {{modes[0].posterior().mean, modes[1].posterior().mean}, modes[0].posterior().covariance};
  for (const auto discretization : {Discretization::pnp, Discretization::red}) {
    const theory::LawStep step{.gamma = setting.parameters.gamma,
                               .annealing = {setting.parameters.sigma_min, 1},
                               .discretization = discretization};
    const auto first = modes[0].stationary(step);
    if (!first) input_error("statistical: a step of {} is unstable for these images", setting.parameters.gamma);
    // The second mode differs in c alone, which moves the mean.
    const auto [M, c, q] = modes[1].map(step);
    const auto second_mean = at::linalg_solve(at::eye(M.size(0), M.options()) - M, c);
    laws.stationary[discretization] = {{first->mean, second_mean}, first->covariance};
    laws.spectral_radius[discretization] = theory::spectral_radius(M);
  }
  return laws;
}

}  // namespace penumbra::app::statistical
