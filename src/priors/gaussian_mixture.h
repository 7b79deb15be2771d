/// p = sum_j w_j N(mu_j, S_j) with the exact score of p_sigma = p * N(0, sigma^2 I) at every sigma:
/// S(x, sigma) = -sum_j r_j (S_j + sigma^2 I)^-1 (x - mu_j), r_j the responsibilities (log-sum-exp).
#pragma once

#include <memory>
#include <vector>

#include "priors/covariance.h"
#include "priors/score.h"

namespace penumbra {

struct Component {
  double weight = 1;
  Tensor mean;                                   ///< [n]
  std::shared_ptr<const Covariance> covariance;  ///< may be shared between components, which then cost less
};

class GaussianMixture final : public Score {
 public:
  /// Weights are normalised. All tensors in one precision, on one device.
  GaussianMixture(Shape image_shape, std::vector<Component> components);

  std::optional<Tensor> log_density(const Tensor& x, double sigma) const override;
  std::optional<Tensor> draw(int64_t count, const Cursor& at) const override;
  std::optional<double> error_bound() const override { return 0.0; }

  /// r_j(x), [chains, components].
  Tensor responsibilities(const Tensor& x, double sigma) const;

  const std::vector<Component>& components() const { return components_; }
  int64_t dimension() const { return components_.front().mean.size(0); }
  /// Mean and dense covariance of the whole mixture, [n] and [n, n].
  Tensor mean() const;
  Tensor dense_covariance() const;

 private:
  Tensor do_score(const Tensor& x, double sigma, const Cursor& at) const override;
  Tensor do_denoise(const Tensor& x, double sigma, const Cursor& at) const override;

  struct Solved;
  Solved solve(const Tensor& x, double sigma) const;

  std::vector<Component> components_;
};

/// The exact posterior of a mixture under y = A x + N(0, beta^2 I), and its evidence. A is dense, [m, n].
struct MixturePosterior {
  std::shared_ptr<const GaussianMixture> posterior;
  double log_evidence = 0;
};
MixturePosterior condition(const GaussianMixture& prior, const Tensor& A, const Tensor& y, double beta);

}  // namespace penumbra
