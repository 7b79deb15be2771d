#include "training/denoising.h"

#include <ATen/ATen.h>

namespace penumbra::training {
namespace {

/// The factor w(sigma) that makes the loss of a network that knows nothing about 1 at every level, [N].
Tensor weight(const Parameterisation& parameterisation, const Tensor& sigma) {
  if (parameterisation.kind != Parameterisation::Kind::karras) return 1 / sigma.square();
  return 1 / KarrasCoefficients(sigma, parameterisation.sigma_data).out.square().flatten();
}

}  // namespace

Tensor Denoising::loss(const ScoreNetwork& network, const Tensor& x, const Cursor& at, int64_t batch) const {
  // One level from each of `batch` equal parts of the law: the loss varies less from step to step.
  const auto place = at::arange(at.first_chain, at.first_chain + x.size(0), at::TensorOptions().dtype(at::kDouble));
  const auto offset = uniform(at, Stream::noise_level, place.unsqueeze(1)).squeeze(1);
  const auto sigma = levels_((place + offset) / static_cast<double>(batch)).to(at::kFloat).to(x.device());
  const auto noisy = x + sigma.reshape({-1, 1, 1, 1}) * normal(at, Stream::training_noise, x);
  const auto error = network.denoise(noisy, sigma, {}, /*drop=*/true) - x;
  return (error.square().mean({1, 2, 3}) * weight(network.parameterisation, sigma)).mean();
}

std::vector<Band> Denoising::bands(int64_t count) const {
  const auto edges = levels_.bands(count);
  std::vector<Band> bands;
  for (size_t i = 0; i + 1 < edges.size(); ++i) bands.push_back({edges[i], edges[i + 1]});
  return bands;
}

Judged Denoising::judge(const ScoreNetwork& network, const Tensor& x, const Band& band, const HeldOut& which) const {
  const auto part = (at::arange(which.first, which.first + x.size(0), at::TensorOptions().dtype(at::kDouble)) + 0.5) /
                    static_cast<double>(which.count);
  const auto sigma = (band.low * (part * std::log(band.high / band.low)).exp()).to(at::kFloat);
  const auto noise = normal({which.seed, which.first, which.band}, Stream::validation_noise, x);
  const auto noisy = x + sigma.reshape({-1, 1, 1, 1}) * noise;
  const auto error = network.denoise(noisy.to(which.device), sigma.to(which.device)).cpu() - x;
  const auto squares = error.square().mean({1, 2, 3});
  return {squares * weight(network.parameterisation, sigma), squares};
}

}  // namespace penumbra::training
