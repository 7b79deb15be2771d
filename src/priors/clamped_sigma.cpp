#include "priors/clamped_sigma.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

namespace penumbra {

ClampedSigmaScore::ClampedSigmaScore(std::shared_ptr<const Score> score)
    : Score(score->image_shape()), score_(std::move(score)) {}

bool ClampedSigmaScore::accepts(double sigma) const { return sigma >= 0 && std::isfinite(sigma); }

double ClampedSigmaScore::clamp(double sigma) const {
  if (score_->accepts(sigma)) return sigma;
  const auto [low, high] = sigma_range();
  const double nearest = std::clamp(sigma, low, high);
  if (clamped_count_++ == 0)
    fmt::print(stderr,
               "penumbra: warning: the prior is known for sigma in [{:g}, {:g}] and was asked at {:g}: the score at "
               "{:g} is used (prior.out_of_range: clamp)\n",
               low, high, sigma, nearest);
  return nearest;
}

Tensor ClampedSigmaScore::do_score(const Tensor& x, double sigma, const Cursor& at) const {
  return score_->score(x, clamp(sigma), at);
}

Tensor ClampedSigmaScore::do_denoise(const Tensor& x, double sigma, const Cursor& at) const {
  const double nearest = clamp(sigma);
  return nearest == sigma ? score_->denoise(x, sigma, at) : x + sigma * sigma * score_->score(x, nearest, at);
}

/// No density has the clamped score as its gradient at this sigma; the density is that of the range, or none.
std::optional<Tensor> ClampedSigmaScore::log_density(const Tensor& x, double sigma) const {
  return score_->accepts(sigma) ? score_->log_density(x, sigma) : std::nullopt;
}

int64_t clamped_count(const Score& prior) {
  const auto* clamped = dynamic_cast<const ClampedSigmaScore*>(&prior);
  return clamped ? clamped->clamped_count() : 0;
}

}  // namespace penumbra
