#include "theory/law_average.h"

#include <ATen/ATen.h>

#include "core/quadrature.h"
#include "theory/divergence.h"

namespace penumbra::theory {
namespace {

/// E |K x + r|^2 under N(m, C) = |K m + r|^2 + tr(K C K^T), with K^T K computed once.
struct AffineNorm {
  Tensor K, r, gram;
  AffineNorm(Tensor K_, Tensor r_) : K(std::move(K_)), r(std::move(r_)), gram(K.t().mm(K)) {}
  double operator()(const GaussianLaw& law) const {
    const auto mean = K.mv(law.mean) + r;
    return std::sqrt((mean.dot(mean) + (gram * law.covariance).sum()).item<double>());
  }
};

/// Everything about a step that does not depend on the law, so that it is made once while the step stays the same.
struct Frozen {
  LawStep step;
  Tensor drift, pull;  ///< x_t = x - tau (drift x - pull) + ...
  AffineNorm mismatch, score;

  Frozen(const LinearGaussian& problem, const LawStep& step_)
      : step(step_), mismatch(mismatch_of(problem, step_)), score(score_of(problem, step_)) {
    const auto map = problem.map(step, 1);
    drift = at::eye(problem.dimension(), at::kDouble) - map.M;
    pull = map.c;
  }

  bool same(const LawStep& other) const {
    return step.gamma == other.gamma && step.annealing.sigma == other.annealing.sigma &&
           step.annealing.alpha == other.annealing.alpha && step.discretization == other.discretization &&
           step.score_noise == other.score_noise && same_bias(other.score_bias);
  }

  bool same_bias(const Tensor& bias) const {
    return step.score_bias.defined() == bias.defined() && (!bias.defined() || step.score_bias.equal(bias));
  }

  static AffineNorm mismatch_of(const LinearGaussian& problem, const LawStep& step) {
    const auto K = problem.prior_precision(0) - problem.prior_precision(step.annealing.sigma);
    return {K, -K.mv(problem.mu())};
  }

  static AffineNorm score_of(const LinearGaussian& problem, const LawStep& step) {
    const auto P = problem.prior_precision(step.annealing.sigma);
    auto K = -P, r = P.mv(problem.mu());
    if (step.discretization == Discretization::pnp) {  // at x - gamma (H x - b)
      r = r - step.gamma * P.mv(problem.b());
      K = K + step.gamma * P.mm(problem.H());
    }
    if (step.score_bias.defined()) r = r + step.score_bias;
    return {K, r};
  }
};

/// The law at tau after a step has begun in `law`; the products that all tau share are made once.
class Interpolation {
 public:
  Interpolation(const Frozen& frozen, const GaussianLaw& law) : frozen_(frozen), law_(law) {
    const auto DC = frozen.drift.mm(law.covariance);
    linear_ = DC + DC.t();
    quadratic_ = DC.mm(frozen.drift.t());
    velocity_ = frozen.pull - frozen.drift.mv(law.mean);
  }
  GaussianLaw at(double tau) const {
    const auto& step = frozen_.step;
    const auto n = law_.mean.size(0);
    const double heat = 2 * tau + tau * tau * step.annealing.alpha * step.annealing.alpha * step.score_noise / n;
    auto C = law_.covariance - tau * linear_ + tau * tau * quadratic_;
    C = (C + C.t()) / 2;
    C.diagonal().add_(heat);
    return {law_.mean + tau * velocity_, C};
  }

 private:
  const Frozen& frozen_;
  const GaussianLaw& law_;
  Tensor linear_, quadratic_, velocity_;
};

bool close(const GaussianLaw& a, const GaussianLaw& b) {
  const auto near = [](const Tensor& x, const Tensor& y) {
    return (x - y).abs().max().item<double>() <= 1e-15 * y.abs().max().item<double>();
  };
  return near(a.mean, b.mean) && near(a.covariance, b.covariance);
}

}  // namespace

LawAverage average_along_law(const LinearGaussian& problem, const GaussianLaw& start, int64_t N,
                             const std::function<LawStep(int64_t)>& step_at, int nodes) {
  const auto& pi = problem.posterior();
  const auto& precision = problem.posterior_precision();
  const AffineNorm grad_g(problem.H(), -problem.b());
  const auto quadrature = gauss_legendre(nodes);
  LawAverage result;
  result.KL0 = gaussian_divergence(start, pi.mean, precision).kl;
  std::optional<Frozen> frozen;
  auto law = start;
  double of_step = 0;
  bool settled = false;
  for (int64_t k = 0; k < N; ++k) {
    const auto step = step_at(k);
    const bool same = frozen && frozen->same(step);
    if (!same) frozen.emplace(problem, step);
    if (!same || !settled) {  // a law that no longer moves has the Fisher information of the step before
      of_step = 0;
      const Interpolation interpolation(*frozen, law);
      for (const auto& [point, weight] : quadrature) {
        const auto at_t = interpolation.at(point * step.gamma);
        of_step += weight * gaussian_divergence(at_t, pi.mean, precision).fisher_information;
        if (step.annealing.sigma > 0) result.C = std::max(result.C, frozen->mismatch(at_t) / step.annealing.sigma);
        result.R_g = std::max(result.R_g, grad_g(at_t));
        result.R_s = std::max(result.R_s, frozen->score(at_t));
      }
      auto next = interpolation.at(step.gamma);
      settled = close(next, law);
      law = next;
    }
    result.fisher_information += of_step / static_cast<double>(N);
  }
  return result;
}

}  // namespace penumbra::theory
