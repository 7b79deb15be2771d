/// The posteriors pi_sigma(x) ~ l(y|x) p_sigma(x) whose prior is smoothed by sigma: alpha = 1, the likelihood is never
/// tempered. What Monte Carlo methods that go along sigma need of them: moves at one sigma, and ratios of p at two.
///
/// Where the prior has a density, ratios are exact. From a score alone they are line integrals: with a reference r
///   log p_t(x) - log p_s(x) = c + the integral over u in [0, 1] of (x - r) . [S(r + u (x - r), t) - S(r + u (x - r),
///   s)],
/// where c = log p_t(r) - log p_s(r) is the same for all x, so that it cancels in weights that are normalised by their
/// sum. In a swap of two states no constant is left at all. The integrals are taken by Gauss-Legendre nodes; their
/// error is the rule's, small where the two scores differ smoothly along the way and not where the way changes mode
/// within a fraction of 1/nodes of it, and, for a learned score, that it is no gradient. (d log p / d sigma = sigma
/// (div S + |S|^2) would need the score's divergence, which a network gives by random probes only.)
#pragma once

#include "samplers/posterior.h"

namespace penumbra {

class SmoothingPath {
 public:
  struct Options {
    double sigma_0 = 0, sigma_min = 0;
    double step_size = 0;    ///< at sigma_min
    int64_t nodes = 64;      ///< of a line integral
    bool metropolis = true;  ///< where the prior has a density, moves are accepted or not, so that pi_sigma is exact
    bool densities = true;   ///< whether ratios take the prior's density where there is one
  };
  SmoothingPath(Posterior posterior, Options options);

  /// log p_to(x) - log p_from(x) but for a constant, [chains], float64.
  Tensor log_ratio(const Tensor& x, double from, double to) const;

  /// The logarithm of the ratio by which exchanging a, at sigma_a, and b, at sigma_b, changes the joint density,
  /// [chains], float64: the likelihoods cancel.
  Tensor swap_log_ratio(const Tensor& a, double sigma_a, const Tensor& b, double sigma_b) const;

  struct Move {
    Tensor x;
    double accepted = 1;  ///< share of the chains that moved
    Tensor grad_norm, score_norm;
  };
  /// One Langevin step at sigma.
  Move move(const Tensor& x, double sigma, double gamma, const Cursor& at) const;

  /// gamma that is as stable at sigma as step_size at sigma_min, by L_g + 1/sigma^2.
  double step_at(double sigma) const;
  /// What gamma becomes after a move, if it may learn: moves of Metropolis' kind are best when 0.57 of them are
  /// accepted.
  double learnt(double gamma, const Move& move) const;

  const Options& options() const { return options_; }

 private:
  /// The integral of v . [S(x + u v, s) - S(x + u v, t)].
  Tensor line_integral(const Tensor& x, const Tensor& v, double s, double t) const;

  Posterior posterior_;
  Options options_;
  std::vector<std::pair<double, double>> rule_;  ///< points in [0, 1] and weights
  double L_g_;
};

/// sigma_0, sigma_min, step_size, nodes, metropolis of a sampler's section, checked against what the prior knows.
SmoothingPath::Options path_setting(Settings& settings, const Posterior& posterior);

}  // namespace penumbra
