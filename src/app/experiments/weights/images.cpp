#include "app/experiments/weights/images.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <chrono>
#include <cmath>

#include "likelihoods/gaussian.h"
#include "models/dense.h"
#include "run/start.h"
#include "samplers/pmc.h"

namespace penumbra::app::weights {
namespace {

using statistical::Images;
using statistical::Parameters;

constexpr double tau_log_odds = 5;  // wanted where the shapes differ

Tensor like(at::IntArrayRef shape) { return at::empty(shape, at::kDouble); }

/// Two covariances: those of the images, the second one's eigenvalues times exp(tau N).
class Shapes {
 public:
  Shapes(const Images& images, double tau, uint64_t seed) : images_(images), tau_(tau) {
    if (tau == 0) return;
    const auto dense = images.factor.mm(images.factor.t()) + images.floor * at::eye(images.factor.size(0), at::kDouble);
    std::tie(values_, basis_) = at::linalg_eigh(dense);
    others_ = values_ * (tau * normal({seed, 0, 1}, Stream::probe, values_)).exp();
  }

  /// The prior smoothed by sigma, in a precision of its own.
  std::shared_ptr<const GaussianMixture> prior(const Parameters& p, double sigma, const Placement& placement) const {
    const auto matrix = [&](const Tensor& values) {
      return Covariance::full(place((basis_ * (values + sigma * sigma)).mm(basis_.t()), placement));
    };
    const auto shared =
        tau_ == 0 ? Covariance::low_rank(place(images_.factor, placement), images_.floor + sigma * sigma) : nullptr;
    return std::make_shared<GaussianMixture>(
        Shape{1, p.side, p.side},
        std::vector<Component>{{0.5, place(images_.means[0] - p.shift, placement), shared ? shared : matrix(values_)},
                               {0.5, place(images_.means[1] + p.shift, placement), shared ? shared : matrix(others_)}});
  }

 private:
  const Images& images_;
  double tau_;
  Tensor values_, basis_, others_;
};

/// log N(y; A mu_1, E_1) - log N(y; A mu_2, E_2) of measurements y [count, m], E_j = beta^2 I + A S_j A^T.
Tensor log_odds_of(const GaussianMixture& prior, const Tensor& A, double beta, const Tensor& y) {
  Tensor logs[2];
  for (size_t j = 0; j < 2; ++j) {
    const auto& mode = prior.components()[j];
    const auto E = beta * beta * at::eye(A.size(0), A.options()) + A.mm(mode.covariance->multiply(A).t());
    const auto L = at::linalg_cholesky(E);
    const auto r = (y - A.mv(mode.mean)).t();
    logs[j] = -(r * at::cholesky_solve(r, L)).sum(0) / 2 - L.diagonal().log().sum();
  }
  return logs[0] - logs[1];
}

/// PMC-RED: without annealing the analytic score leads chains to both modes, which a few hundred annealed ones miss.
Tensor sample(const Parameters& p, const Posterior& posterior, const Placement& placement, uint64_t seed) {
  const Pmc sampler(posterior, seed, {Discretization::red, p.gamma, p.sigma_min});
  Start start;
  start.low = -p.start, start.high = p.start;
  auto state = initial_state(start, *posterior.prior, seed, 0, p.chains, placement);
  while (state.k < p.steps) sampler.step(state);
  return state.x.to(at::kDouble);
}

Posterior make_posterior(const Parameters& p, std::shared_ptr<const GaussianMixture> prior, const Tensor& A,
                         const Tensor& y, const Placement& placement) {
  const auto model = std::make_shared<DenseModel>(prior->image_shape(), place(A, placement));
  return {std::make_shared<GaussianLikelihood>(model, place(y, placement), p.beta), std::move(prior)};
}

struct Measurements {
  Tensor A, y;  ///< [m, n], [candidates, m]
};

Measurements measure(const Parameters& p, const Images& images, uint64_t seed) {
  const auto n = p.side * p.side;
  const auto m = static_cast<int64_t>(std::lround(p.data_share * static_cast<double>(n)));
  const auto A = normal({seed, 0, 0}, Stream::probe, like({m, n})) / std::sqrt(static_cast<double>(m));
  const auto noise = normal({seed, 0, 0}, Stream::measurement, like({images.candidates.size(0), m}));
  return {A, images.candidates.mm(A.t()) + p.beta * noise};
}

/// Of the candidate whose log-odds are nearest to the wanted ones.
Tensor chosen(const Parameters& p, const GaussianMixture& smoothed, const Measurements& measured, double wanted) {
  const auto odds = log_odds_of(smoothed, measured.A, p.beta, measured.y);
  return measured.y[(odds - wanted).abs().argmin().item<int64_t>()];
}

Case weigh_image(const Parameters& p, const Shapes& shapes, const Measurements& measured, const std::string& name,
                 double wanted, uint64_t seed) {
  const Placement quick{at::kFloat, at::kCPU};
  const auto& A = measured.A;
  const auto smoothed = shapes.prior(p, p.sigma_min, {}), plain = shapes.prior(p, 0, {});
  const auto y = chosen(p, *smoothed, measured, wanted);
  const auto begin = std::chrono::steady_clock::now();
  const auto samples = sample(p, make_posterior(p, shapes.prior(p, 0, quick), A, y, quick), quick, seed);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const auto posterior = make_posterior(p, plain, A, y, {});
  const theory::ScoreField score = [&](const Tensor& x) { return posterior.score(x, p.sigma_min); };
  auto result = weigh(name, score, samples, *condition(*smoothed, A, y, p.beta).posterior, seed);
  result.sampling_seconds = seconds;
  result.exact_unsmoothed = log_odds_of(*plain, A, p.beta, y.unsqueeze(0)).item<double>();
  return result;
}

}  // namespace

std::vector<Case> weigh_images(const ImageEffort& effort, const Images& images, uint64_t seed) {
  const c10::NoGradGuard no_gradients;
  const auto& p = effort.parameters;
  const auto measured = measure(p, images, seed);
  std::vector<Case> cases;
  const Shapes same(images, 0, seed);
  for (const double wanted : effort.wanted) {
    cases.push_back(weigh_image(p, same, measured, fmt::format("equal shapes, near {:+g}", wanted), wanted, seed));
  }
  for (const double tau : effort.taus)
    cases.push_back(
        weigh_image(p, Shapes(images, tau, seed), measured, fmt::format("tau = {:g}", tau), tau_log_odds, seed));
  return cases;
}

std::vector<MethodSummary> compare_images(const ImageEffort& effort, const Images& images,
                                          const std::vector<Case>& cases, const std::vector<Alternative>& alternatives,
                                          uint64_t seed) {
  const c10::NoGradGuard no_gradients;
  const auto& p = effort.parameters;
  const auto measured = measure(p, images, seed);
  const Shapes same(images, 0, seed);
  const auto plain = same.prior(p, 0, {}), smoothed = same.prior(p, p.sigma_min, {});
  MethodSummary counts{"counts", {}}, odds{"odds", {}};
  std::vector<MethodSummary> methods;
  for (const auto& alternative : alternatives) methods.push_back({alternative.name, {}});
  for (size_t i = 0; i < effort.wanted.size(); ++i) {
    const auto& c = cases.at(i);
    const double more = static_cast<double>(c.odds.evaluations) / static_cast<double>(p.chains);
    const auto steps = static_cast<double>(p.steps);
    counts.found.push_back({c.name, c.exact_weight(), c.share, steps, c.sampling_seconds});
    odds.found.push_back({c.name, c.exact_weight(), c.weight(), steps + more, c.sampling_seconds + c.odds_seconds});
    const auto y = chosen(p, *smoothed, measured, effort.wanted[i]);
    const auto exact = condition(*smoothed, measured.A, y, p.beta).posterior;
    for (size_t m = 0; m < alternatives.size(); ++m)
      methods[m].found.push_back(
          try_alternative(alternatives[m], c.name, make_posterior(p, plain, measured.A, y, {}), *exact, seed));
  }
  methods.insert(methods.begin(), {counts, odds});
  return methods;
}

}  // namespace penumbra::app::weights
