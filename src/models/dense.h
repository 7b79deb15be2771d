/// A(x) = A x with a dense matrix, [m, n] over the flattened image.
#pragma once

#include "models/forward_model.h"

namespace penumbra {

class DenseModel final : public ForwardModel {
 public:
  DenseModel(Shape image_shape, Tensor matrix);
  bool linear() const override { return true; }

 private:
  Tensor do_apply(const Tensor& x) const override;
  Tensor do_vjp(const Tensor& x, const Tensor& r) const override;

  Tensor matrix_;
};

/// The matrix of any linear model, column by column: for exact posteriors of small problems and for tests.
Tensor dense_matrix(const ForwardModel& model, const Placement& placement);

}  // namespace penumbra
