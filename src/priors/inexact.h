/// A score with an error of norm at most eps_max (Assumption 3b), to study what an imperfect network does.
#pragma once

#include "priors/score.h"

namespace penumbra {

class InexactScore final : public Score {
 public:
  enum class Error {
    fresh,     ///< new at every evaluation, uniform in the ball of radius eps_max: acts as extra temperature
    constant,  ///< one fixed vector of norm eps_max: shifts the mean
  };
  InexactScore(std::shared_ptr<const Score> exact, double eps_max, Error error = Error::fresh);

  std::optional<Tensor> log_density(const Tensor& x, double sigma) const override;
  std::optional<Tensor> draw(int64_t count, const Cursor& at) const override;
  std::optional<double> error_bound() const override;
  SigmaRange sigma_range() const override { return exact_->sigma_range(); }
  std::optional<std::pair<double, double>> pixel_range() const override { return exact_->pixel_range(); }
  std::optional<double> pixel_width() const override { return exact_->pixel_width(); }

  const Score& exact() const { return *exact_; }

 private:
  Tensor do_score(const Tensor& x, double sigma, const Cursor& at) const override;

  std::shared_ptr<const Score> exact_;
  double eps_max_;
  Error error_;
};

/// The score scaled down to norm R_s where it is longer (Assumption 6).
class ClippedScore final : public Score {
 public:
  ClippedScore(std::shared_ptr<const Score> score, double max_norm);
  std::optional<Tensor> log_density(const Tensor& x, double sigma) const override;
  SigmaRange sigma_range() const override { return score_->sigma_range(); }
  std::optional<std::pair<double, double>> pixel_range() const override { return score_->pixel_range(); }
  std::optional<double> pixel_width() const override { return score_->pixel_width(); }

  const Score& unclipped() const { return *score_; }

 private:
  Tensor do_score(const Tensor& x, double sigma, const Cursor& at) const override;

  std::shared_ptr<const Score> score_;
  double max_norm_;
};

}  // namespace penumbra
