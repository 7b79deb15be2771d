/// Unconditional draws in a few dozen steps: Heun's method on the probability-flow equation of the variance-exploding
/// process, dx/dsigma = (x - D(x, sigma)) / sigma (Karras et al. 2022, Algorithms 1 and 2).
///
/// An image depends on (seed, its number, step) alone, to rounding: not on how many are drawn together.
#pragma once

#include <functional>
#include <limits>
#include <vector>

#include "core/random.h"
#include "priors/score.h"

namespace penumbra {

/// `steps` noise levels from sigma_max to sigma_min, evenly in sigma^(1/rho), and 0 after them (eq. 5).
std::vector<double> rho_grid(int64_t steps, double sigma_max, double sigma_min, double rho = 7);

/// Algorithm 2: before a step at a level in [low, high], noise raises the level by the factor 1 + min(amount / steps,
/// sqrt(2) - 1), never above what the prior knows. 0: Algorithm 1, deterministic.
struct Churn {
  double amount = 0;                                      ///< S_churn
  double low = 0;                                         ///< S_tmin
  double high = std::numeric_limits<double>::infinity();  ///< S_tmax
  double noise = 1;                                       ///< S_noise, the standard deviation of the noise put in
};

struct HeunOptions {
  std::vector<double> sigmas;  ///< falling; a last 0 is reached by one denoising
  Churn churn = {};
  /// Called after every step with the number of steps done.
  std::function<void(int64_t)> after_step = [](int64_t) {};
};

/// `count` images at level sigma: N(0, sigma^2 I), for the seed and first image of `at`.
Tensor heun_start(const Score& prior, int64_t count, double sigma, const Cursor& at, const Placement& placement);

/// x at sigmas.front() taken to sigmas.back(), for the images numbered from at.first_chain.
Tensor heun(const Score& prior, Tensor x, const HeunOptions& options, const Cursor& at);

}  // namespace penumbra
