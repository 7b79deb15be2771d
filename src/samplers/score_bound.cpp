#include "samplers/score_bound.h"

#include <ATen/ATen.h>

#include <cmath>

namespace penumbra {

Tensor ScoreBound::prior_mean(const Placement& placement) const {
  auto shape = prior_->image_shape();
  shape.insert(shape.begin(), 1);
  auto m = place(at::zeros(shape), placement);
  // Of a Gaussian prior a round brings m nearer by v / (v + sigma_max^2).
  for (int round = 0; round < 4; ++round) m = prior_->denoise(m, options_.sigma_max);
  return m;
}

/// One in every part of the range, in turns so far from its part's lower and upper end: what is linear in log sigma is
/// then integrated exactly by an even number of them. Which image has which part is random, so that each level by
/// itself is uniform in log sigma.
std::vector<double> ScoreBound::levels_at(const Cursor& at, int64_t count) const {
  const auto numbers = uniform(at, Stream::noise_level, at::empty({1, 2}, at::kDouble));
  const auto first = static_cast<int64_t>(numbers[0][0].item<double>() * static_cast<double>(count));
  const double within = numbers[0][1].item<double>();
  std::vector<double> sigmas;
  for (int64_t i = 0; i < count; ++i) {
    const auto part = (i + first) % count;
    const double u = static_cast<double>(part) + (part % 2 == 0 ? within : 1 - within);
    sigmas.push_back(options_.sigma_min *
                     std::pow(options_.sigma_max / options_.sigma_min, u / static_cast<double>(count)));
  }
  return sigmas;
}

ScoreBound::Estimate ScoreBound::operator()(const Tensor& x, const Tensor& prior_mean, const Cursor& at) const {
  const auto [sigma_min, sigma_max, wanted] = options_;
  const auto levels = std::min<int64_t>(wanted, x.size(0));
  const double range = std::log(sigma_max / sigma_min);
  const auto sigmas = levels_at(at, levels);
  const auto z = normal(at, Stream::training_noise, x);

  // The images are shared among the levels as evenly as they can be.
  std::vector<double> each;
  const auto parts = x.tensor_split(levels);
  for (size_t i = 0; i < parts.size(); ++i) each.insert(each.end(), static_cast<size_t>(parts[i].size(0)), sigmas[i]);
  const auto sigma = at::tensor(each, at::kDouble).to(x.device(), x.scalar_type()).view({-1, 1, 1, 1});
  const auto [denoised, vjp] = prior_->denoise_vjp(x + sigma * z, each, at);
  const auto error = (denoised - x) / sigma;
  const auto squares = range * flat(error).square().sum(1);
  const auto slopes = 2 * range / sigma * (vjp(error) - error);

  const auto n = static_cast<double>(element_count(prior_->image_shape()));
  const double entropy = n / 2 * std::log(2 * M_PI * M_E * sigma_min * sigma_min);
  const auto apart = (x - prior_mean) / sigma_max;
  return {squares + flat(apart).square().sum(1) / 2 + entropy, slopes + apart / sigma_max};
}

}  // namespace penumbra
