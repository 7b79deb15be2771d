/// A score that may be asked for outside its range: S(x, sigma) := S(x, nearest known sigma).
///
/// The score, not the denoiser, is what is carried on: D(x, sigma) = x + sigma^2 S(x, nearest), by Tweedie's formula.
/// Far above the range that is no denoiser of anything: a stop-gap for a schedule that sets out a little too high.
/// Every such evaluation is counted, and the first one is announced on stderr.
#pragma once

#include <atomic>

#include "priors/score.h"

namespace penumbra {

class ClampedSigmaScore final : public Score {
 public:
  explicit ClampedSigmaScore(std::shared_ptr<const Score> score);

  std::optional<Tensor> log_density(const Tensor& x, double sigma) const override;
  std::optional<Tensor> draw(int64_t count, const Cursor& at) const override { return score_->draw(count, at); }
  /// None outside the range, so none at all.
  std::optional<double> error_bound() const override { return std::nullopt; }
  SigmaRange sigma_range() const override { return score_->sigma_range(); }
  std::optional<std::pair<double, double>> pixel_range() const override { return score_->pixel_range(); }
  std::optional<double> pixel_width() const override { return score_->pixel_width(); }
  /// Every sigma that is one.
  bool accepts(double sigma) const override;

  const Score& unclamped() const { return *score_; }

  /// Evaluations at a clamped sigma so far, in this process.
  int64_t clamped_count() const { return clamped_count_; }

 private:
  Tensor do_score(const Tensor& x, double sigma, const Cursor& at) const override;
  Tensor do_denoise(const Tensor& x, double sigma, const Cursor& at) const override;
  /// The nearest known sigma; counts and announces where that is another one.
  double clamp(double sigma) const;

  std::shared_ptr<const Score> score_;
  mutable std::atomic<int64_t> clamped_count_ = 0;
};

/// The same of any prior: 0 where nothing is clamped.
int64_t clamped_count(const Score& prior);

}  // namespace penumbra
