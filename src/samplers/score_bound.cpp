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

ScoreBound::Estimate ScoreBound::operator()(const Tensor& x, const Tensor& prior_mean, const Cursor& at) const {
  const auto [sigma_min, sigma_max, wanted] = options_;
  const auto levels = std::min<int64_t>(wanted, x.size(0));
  const double range = std::log(sigma_max / sigma_min);
  const double first = uniform(at, Stream::noise_level, at::empty({1, 1}, at::kDouble)).item<double>();
  const auto z = normal(at, Stream::training_noise, x);

  // Levels evenly apart, all shifted by one uniform number: each of them is uniform in log sigma by itself, so that
  // every image has an unbiased estimate, and together they leave no gap.
  std::vector<Tensor> squares, slopes;
  const auto clean = x.tensor_split(levels), noise = z.tensor_split(levels);
  auto here = at;
  for (int64_t i = 0; i < levels; ++i) {
    const double u = std::fmod(first + static_cast<double>(i) / static_cast<double>(levels), 1.0);
    const double sigma = sigma_min * std::exp(range * u);
    const auto [denoised, vjp] = prior_->denoise_vjp(clean[i] + sigma * noise[i], sigma, here);
    const auto error = (denoised - clean[i]) / sigma;
    squares.push_back(range * flat(error).square().sum(1));
    slopes.push_back(2 * range / sigma * (vjp(error) - error));
    here.first_chain += clean[i].size(0);
  }

  const auto n = static_cast<double>(element_count(prior_->image_shape()));
  const double entropy = n / 2 * std::log(2 * M_PI * M_E * sigma_min * sigma_min);
  const auto apart = (x - prior_mean) / sigma_max;
  return {at::cat(squares) + flat(apart).square().sum(1) / 2 + entropy, at::cat(slopes) + apart / sigma_max};
}

}  // namespace penumbra
