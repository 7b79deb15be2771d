#include "priors/pixel_sd.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "priors/clamped_sigma.h"
#include "priors/gaussian_mixture.h"
#include "priors/inexact.h"
#include "priors/network.h"

namespace penumbra {
namespace {

/// The prior as it is without what a configuration puts around it.
const Score& innermost(const Score& prior) {
  if (const auto* outer = dynamic_cast<const ClampedSigmaScore*>(&prior)) return innermost(outer->unclamped());
  if (const auto* outer = dynamic_cast<const ClippedScore*>(&prior)) return innermost(outer->unclipped());
  if (const auto* outer = dynamic_cast<const InexactScore*>(&prior)) return innermost(outer->exact());
  return prior;
}

Tensor to_double(const Tensor& x) { return x.detach().to(at::kCPU, at::kDouble); }

/// The variance of a mixture is that within its components and that between them.
Tensor mixture_sd(const GaussianMixture& mixture) {
  const auto mean = to_double(mixture.mean());
  auto variance = at::zeros_like(mean);
  for (const auto& [weight, mu, covariance] : mixture.components())
    variance += weight * (to_double(covariance->marginal_variances()) + (to_double(mu) - mean).square());
  return variance.sqrt().reshape(mixture.image_shape());
}

Tensor network_sd(const NetworkScore& network, const PixelSpread& stored) {
  const auto& header = network.loaded().header;
  const auto& image = header.image_shape;
  const auto coarse = at::tensor(stored.sd, at::kDouble).reshape(stored.shape);
  const auto fine =
      at::upsample_bilinear2d(coarse.unsqueeze(0), {image[1], image[2]}, /*align_corners=*/false).squeeze(0);
  const auto [low, high] = *network.pixel_range();
  return fine * ((high - low) / (header.pixel_high - header.pixel_low));
}

}  // namespace

std::optional<PriorSd> stored_pixel_sd(const Score& prior) {
  const auto& inner = innermost(prior);
  if (const auto* mixture = dynamic_cast<const GaussianMixture*>(&inner))
    return PriorSd{mixture_sd(*mixture), "the prior's formula"};
  const auto* network = dynamic_cast<const NetworkScore*>(&inner);
  if (!network || !network->loaded().header.pixel_sd) return std::nullopt;
  const auto& stored = *network->loaded().header.pixel_sd;
  return PriorSd{network_sd(*network, stored), stored.from};
}

PixelSpread coarse_spread(const Tensor& sd, const std::string& from) {
  const auto rows = std::min(sd.size(1), PixelSpread::most), columns = std::min(sd.size(2), PixelSpread::most);
  const auto coarse = at::adaptive_avg_pool2d(to_double(sd).square(), {rows, columns}).sqrt().contiguous();
  PixelSpread spread{{sd.size(0), rows, columns}, {}, from};
  const auto* values = coarse.data_ptr<double>();
  // Four digits: no map is known better than that.
  for (int64_t i = 0; i < coarse.numel(); ++i) spread.sd.push_back(std::stod(fmt::format("{:.4g}", values[i])));
  return spread;
}

}  // namespace penumbra
