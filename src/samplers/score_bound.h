/// What takes the place of -log p(x) where only the score is known: the evidence bound of a diffusion model (Song,
/// Durkan, Murray and Ermon 2021; as a prior: Feng et al. 2023, 2024), in variance-exploding form.
///
/// N(x, t I) and p_t, the prior smoothed as much, obey the same heat equation in t = sigma^2, along which their
/// divergence falls by 1/2 E|grad log N - grad log p_t|^2 dt. With x_sigma = x + sigma z that difference of scores is
/// (D(x_sigma, sigma) - x) / sigma^2, and dt = 2 sigma^2 d log sigma, so that
///   -E log p(x; sigma_min) = n/2 log(2 pi e sigma_min^2) + KL at sigma_max
///                            + integral of E|D(x + sigma z, sigma) - x|^2 / sigma^2 over d log sigma,
/// the left side being log p_sigma at x + sigma z, sigma = sigma_min: -log p(x) but for that smoothing. It is an
/// identity for the exact score; with an approximate one it bounds the log-density of the diffusion that this score
/// drives. At sigma_max p is taken for N(m, sigma_max^2 I), m its mean: KL = |x - m|^2 / (2 sigma_max^2).
#pragma once

#include <memory>
#include <vector>

#include "priors/score.h"

namespace penumbra {

class ScoreBound {
 public:
  struct Options {
    double sigma_min = 0.01, sigma_max = 1;
    int64_t levels = 8;  ///< noise levels of one estimate; the images are shared among them
  };
  ScoreBound(std::shared_ptr<const Score> prior, Options options) : prior_(std::move(prior)), options_(options) {}

  /// m, [1, image], from the denoiser at sigma_max.
  Tensor prior_mean(const Placement& placement) const;

  /// b and its gradient for each image, by one draw of (sigma, z) each: unbiased. The gradient is that of the
  /// estimate, through the denoiser's Jacobian.
  struct Estimate {
    Tensor value;  ///< [images]
    Tensor grad;   ///< shaped like x
  };
  Estimate operator()(const Tensor& x, const Tensor& prior_mean, const Cursor& at) const;

  const Options& options() const { return options_; }

 private:
  std::vector<double> levels_at(const Cursor& at, int64_t count) const;

  std::shared_ptr<const Score> prior_;
  Options options_;
};

}  // namespace penumbra
