/// Several Gaussian likelihoods side by side: each block of consecutive chains has its own matrix, so that one batch
/// samples many posteriors.
#pragma once

#include "likelihoods/likelihood.h"

namespace penumbra::app::validation_2d {

class BlockLikelihood final : public Likelihood {
 public:
  /// A is [blocks, m, n], y is [m]; a batch must have `chains` chains for every block.
  BlockLikelihood(Shape image_shape, const Tensor& A, const Tensor& y, double beta, int64_t chains);

  std::vector<Misfit> misfit(const Tensor& x) const override;
  std::optional<double> lipschitz() const override;
  Tensor simulate(const Tensor& x, const Cursor& at) const override;

 private:
  Tensor do_value(const Tensor& x) const override;
  Tensor do_grad(const Tensor& x) const override;
  /// [chains of all blocks, image] as [blocks, chains, n].
  Tensor blocks(const Tensor& x) const;

  Tensor At_;     ///< A^T, [blocks, n, m]
  Tensor y_;      ///< [m]
  Tensor H_, b_;  ///< A^T A / beta^2, [blocks, n, n], and A^T y / beta^2, [blocks, 1, n]
  double beta_;
  int64_t chains_;
};

}  // namespace penumbra::app::validation_2d
