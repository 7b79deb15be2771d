#include "networks/parameterisation.h"

#include <ATen/ATen.h>

#include "core/error.h"

namespace penumbra {
namespace {

using Kind = Parameterisation::Kind;

Tensor per_image(const Tensor& number) { return number.reshape({-1, 1, 1, 1}); }

[[noreturn]] void refuse_reconstruction() {
  input_error("network: expected a denoiser, found a network that reconstructs from data");
}

}  // namespace

KarrasCoefficients::KarrasCoefficients(const Tensor& sigma, double sigma_data) {
  const auto s = per_image(sigma);
  const auto total = s.square() + sigma_data * sigma_data;
  skip = sigma_data * sigma_data / total;
  out = s * sigma_data / total.sqrt();
  in = 1 / total.sqrt();
}

Tensor ScoreNetwork::apply(const Tensor& x, const Tensor& condition, const Tensor& labels, bool drop) const {
  return (*network)({x.contiguous(format), condition, labels, drop}).to(at::kFloat);
}

Tensor ScoreNetwork::denoise(const Tensor& x, const Tensor& sigma, const Tensor& labels, bool drop) const {
  switch (parameterisation.kind) {
    case Kind::karras: {
      const KarrasCoefficients c(sigma, parameterisation.sigma_data);
      return c.skip * x + c.out * apply(c.in * x, sigma.log(), labels, drop);
    }
    case Kind::noise:
      return x - apply(x, sigma, labels, drop);
    case Kind::score:
      return x + per_image(sigma) * apply(x, sigma, labels, drop);
    case Kind::plain:
      break;
    case Kind::reconstruction:
      refuse_reconstruction();
  }
  return x + per_image(sigma.square()) * apply(x, sigma, labels, drop);
}

Tensor ScoreNetwork::score(const Tensor& x, const Tensor& sigma, const Tensor& labels) const {
  switch (parameterisation.kind) {
    case Kind::score:
      return apply(x, sigma, labels, false) / per_image(sigma);
    case Kind::plain:
      return apply(x, sigma, labels, false);
    case Kind::karras: {
      // (D - x) / sigma^2 with the cancelling terms taken out by hand: at small sigma float32 would lose them.
      const double d = parameterisation.sigma_data;
      const auto s = per_image(sigma), total = s.square() + d * d;
      const KarrasCoefficients c(sigma, d);
      return (d * total.sqrt() / s * apply(c.in * x, sigma.log(), labels, false) - x) / total;
    }
    case Kind::noise:
      break;
    case Kind::reconstruction:
      refuse_reconstruction();
  }
  return -apply(x, sigma, labels, false) / per_image(sigma.square());
}

Tensor ScoreNetwork::reconstruct(const DataGradient& G, const Tensor& like) const {
  if (parameterisation.kind != Kind::reconstruction)
    input_error("network: expected one that reconstructs from data, found a denoiser");
  const auto start = -G(at::zeros_like(like, at::kFloat));
  return (*network)({start.contiguous(format), {}, {}, false, G}).to(at::kFloat);
}

}  // namespace penumbra
