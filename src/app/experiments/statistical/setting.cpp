#include "app/experiments/statistical/setting.h"

#include <ATen/ATen.h>

#include <cmath>

namespace penumbra::app::statistical {
namespace {

constexpr double wanted_log_odds = 1, decided = 1.5;

Tensor like(at::IntArrayRef shape) { return at::empty(shape, at::kDouble); }

/// log N(y; A mu_1, E) - log N(y; A mu_2, E) of measurements y [count, m], E = beta^2 I + A S A^T.
Tensor log_odds(const Setting& setting, const Tensor& y) {
  const auto& modes = setting.prior->components();
  const auto& A = setting.A;
  const auto m = A.size(0);
  const double beta = setting.parameters.beta;
  const auto E = beta * beta * at::eye(m, A.options()) + A.mm(modes[0].covariance->multiply(A).t());
  const auto difference = A.mv(modes[0].mean - modes[1].mean), middle = A.mv(modes[0].mean + modes[1].mean) / 2;
  const auto direction = at::cholesky_solve(difference.unsqueeze(1), at::linalg_cholesky(E)).squeeze(1);
  return (y - middle).mv(direction);
}

double mode_separation(const GaussianMixture& posterior) {
  const auto& modes = posterior.components();
  const auto d = (modes[1].mean - modes[0].mean).unsqueeze(0);
  return std::sqrt((d * modes[0].covariance->solve(d, 0)).sum().item<double>());
}

}  // namespace

std::shared_ptr<const GaussianMixture> make_prior(const Parameters& parameters, const Images& images,
                                                  const Placement& placement) {
  const auto covariance = Covariance::low_rank(place(images.factor, placement), images.floor);
  const auto side = parameters.side;
  return std::make_shared<GaussianMixture>(
      Shape{1, side, side},
      std::vector<Component>{{0.5, place(images.means[0] - parameters.shift, placement), covariance},
                             {0.5, place(images.means[1] + parameters.shift, placement), covariance}});
}

Setting make_setting(const Parameters& parameters, Images images, uint64_t seed) {
  Setting setting;
  setting.parameters = parameters;
  setting.images = std::move(images);
  setting.prior = make_prior(parameters, setting.images, {});
  const auto n = parameters.side * parameters.side;
  const auto m = static_cast<int64_t>(std::lround(parameters.data_share * static_cast<double>(n)));
  setting.A = normal({seed, 0, 0}, Stream::probe, like({m, n})) / std::sqrt(static_cast<double>(m));

  const auto& candidates = setting.images.candidates;
  const auto noise = normal({seed, 0, 0}, Stream::measurement, like({candidates.size(0), m}));
  const auto y = candidates.mm(setting.A.t()) + parameters.beta * noise;
  const auto odds = log_odds(setting, y);
  const auto chosen = (odds - wanted_log_odds).abs().argmin().item<int64_t>();
  setting.y = y[chosen];
  setting.truth = candidates[chosen];
  setting.log_odds = odds[chosen].item<double>();
  setting.log_odds_sd = odds.square().mean().sqrt().item<double>();
  setting.undecided = odds.abs().lt(decided).sum().item<int64_t>();
  setting.posterior = condition(*setting.prior, setting.A, setting.y, parameters.beta).posterior;
  setting.separation = mode_separation(*setting.posterior);
  return setting;
}

}  // namespace penumbra::app::statistical
