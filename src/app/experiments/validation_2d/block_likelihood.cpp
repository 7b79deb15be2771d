#include "app/experiments/validation_2d/block_likelihood.h"

#include <ATen/ATen.h>

#include "core/error.h"

namespace penumbra::app::validation_2d {

BlockLikelihood::BlockLikelihood(Shape image_shape, const Tensor& A, const Tensor& y, double beta, int64_t chains)
    : Likelihood(std::move(image_shape)),
      At_(A.transpose(1, 2).contiguous()),
      y_(y),
      H_(At_.matmul(A) / (beta * beta)),
      b_(y.matmul(A).unsqueeze(1) / (beta * beta)),
      beta_(beta),
      chains_(chains) {}

Tensor BlockLikelihood::blocks(const Tensor& x) const {
  if (x.size(0) != At_.size(0) * chains_)
    input_error("block likelihood: expected {} x {} chains, found {}", At_.size(0), chains_, x.size(0));
  return x.reshape({At_.size(0), chains_, At_.size(1)});
}

Tensor BlockLikelihood::do_value(const Tensor& x) const {
  const auto r = blocks(x).bmm(At_) - y_;
  return r.square().sum(2).flatten() / (2 * beta_ * beta_);
}

Tensor BlockLikelihood::do_grad(const Tensor& x) const { return at::baddbmm(-b_, blocks(x), H_).view_as(x); }

std::vector<Misfit> BlockLikelihood::misfit(const Tensor& x) const {
  return {{"data", 2 * do_value(x) / static_cast<double>(y_.numel()), y_.numel()}};
}

std::optional<double> BlockLikelihood::lipschitz() const { return at::linalg_eigvalsh(H_).max().item<double>(); }

Tensor BlockLikelihood::simulate(const Tensor& x, const Cursor& at) const {
  const auto clean = blocks(x).bmm(At_).flatten(0, 1);
  return clean + beta_ * normal(at, Stream::measurement, clean);
}

}  // namespace penumbra::app::validation_2d
