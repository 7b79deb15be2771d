#include "likelihoods/mri.h"

#include <ATen/ATen.h>

namespace penumbra {

MriLikelihood::MriLikelihood(std::shared_ptr<const MriModel> A, const Tensor& y, double beta, MriFrame frame,
                             MriPictures pictures)
    : GaussianLikelihood(A, y.defined() && frame.constant.defined() ? y - frame.constant : y, beta),
      A_(std::move(A)),
      frame_(std::move(frame)),
      pictures_(std::move(pictures)) {}

Tensor MriLikelihood::do_value(const Tensor& x) const {
  const auto g = GaussianLikelihood::do_value(x);
  if (!frame_.air.defined()) return g;
  return g + 0.5 * *lipschitz() * norm_per_chain(frame_.air * (x - frame_.black)).square();
}

Tensor MriLikelihood::do_grad(const Tensor& x) const {
  const auto grad = GaussianLikelihood::do_grad(x);
  return frame_.air.defined() ? grad + *lipschitz() * frame_.air * (x - frame_.black) : grad;
}

std::shared_ptr<const Likelihood> MriLikelihood::with_data(const Tensor& y) const {
  return std::make_shared<MriLikelihood>(A_, frame_.constant.defined() ? y + frame_.constant : y, *noise_sd(), frame_);
}

Tensor MriLikelihood::simulate(const Tensor& x, const Cursor& at) const {
  auto y = GaussianLikelihood::simulate(x, at);
  if (frame_.constant.defined()) y = y + frame_.constant;
  if (frame_.colour.defined()) y = at::matmul(frame_.colour, y);
  return A_->to_grid(y).to(at::kComplexFloat);
}

}  // namespace penumbra
