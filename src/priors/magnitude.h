/// Complex images, [2, H, W], under a prior of their magnitude, with phases that are uniform and independent.
///
/// Let z = m e^{i theta} + sigma n at a pixel, with n of variance one in each component, and r = |z|. For a known m the
/// phase has a von Mises law about that of z with concentration r m / sigma^2, so
///   E[m e^{i theta} | z] = m I1(r m / sigma^2) / I0(r m / sigma^2) z / r,
/// which is exact. The magnitude is denoised by the inner prior's D: at high signal r = m + sigma n' + sigma^2 / (2 m),
/// whose bias the argument sqrt(r^2 - sigma^2) takes off. Hence
///   D_z = D(sqrt(max(r^2 - sigma^2, 0))) (I1/I0)(r D / sigma^2) z / r,
/// and the score (D_z - z) / sigma^2. The density of z is p(|z|) / (2 pi |z|): the -1/|z| of its score comes half from
/// the argument and half from I1/I0, which is 1 - 1/(2 kappa) for large kappa. At low signal D sees Rician noise where
/// it expects Gaussian: an approximation.
#pragma once

#include "priors/score.h"

namespace penumbra {

class MagnitudeScore final : public Score {
 public:
  /// `magnitude` is of [1, H, W]. The low end of its pixel range, or zero where it has none, is magnitude zero.
  explicit MagnitudeScore(std::shared_ptr<const Score> magnitude);
  SigmaRange sigma_range() const override { return magnitude_->sigma_range(); }
  /// The range of magnitudes, or four SDs of a component of draws with free phases, which is about as much.
  std::optional<double> pixel_width() const override;

 private:
  Tensor do_score(const Tensor& x, double sigma, const Cursor& at) const override;
  Tensor do_denoise(const Tensor& x, double sigma, const Cursor& at) const override;

  std::shared_ptr<const Score> magnitude_;
  double black_;
};

}  // namespace penumbra
