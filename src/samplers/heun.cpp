#include "samplers/heun.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <cmath>

#include "core/error.h"

namespace penumbra {
namespace {

void require_sigmas(const std::vector<double>& sigmas) {
  bool good = sigmas.size() >= 2 && std::isfinite(sigmas.front()) && sigmas.back() >= 0;
  for (size_t i = 1; i < sigmas.size(); ++i) good = good && sigmas[i] < sigmas[i - 1];
  if (!good) input_error("heun: expected at least two noise levels that fall, the last one not below 0");
}

/// The level that churn raises sigma to.
double raised(double sigma, double steps, const Churn& churn, const Score& prior) {
  if (sigma < churn.low || sigma > churn.high) return sigma;
  const double gamma = std::min(churn.amount / steps, std::sqrt(2.0) - 1);
  // Not above the range even where the prior would clamp.
  return std::min(sigma * (1 + gamma), std::max(sigma, prior.sigma_range().high));
}

}  // namespace

std::vector<double> rho_grid(int64_t steps, double sigma_max, double sigma_min, double rho) {
  const bool falls = sigma_min > 0 && (sigma_min < sigma_max || (steps == 1 && sigma_min == sigma_max));
  if (steps < 1 || !falls || !std::isfinite(sigma_max) || !(rho > 0) || !std::isfinite(rho))
    input_error(
        "heun: expected steps >= 1, 0 < sigma_min < sigma_max and rho > 0, found steps {}, sigma_min {}, "
        "sigma_max {}, rho {}",
        steps, sigma_min, sigma_max, rho);
  std::vector<double> sigmas;
  const double first = std::pow(sigma_max, 1 / rho), last = std::pow(sigma_min, 1 / rho);
  for (int64_t i = 0; i < steps; ++i) {
    const double t = steps > 1 ? static_cast<double>(i) / static_cast<double>(steps - 1) : 0;
    sigmas.push_back(std::pow(first + t * (last - first), rho));
  }
  // The ends without the rounding of the powers: they may be the ends of what the prior knows.
  if (steps > 1) sigmas.back() = sigma_min;
  sigmas.front() = sigma_max;
  sigmas.push_back(0);
  return sigmas;
}

Tensor heun_start(const Score& prior, int64_t count, double sigma, const Cursor& at, const Placement& placement) {
  Shape shape = prior.image_shape();
  shape.insert(shape.begin(), count);
  const auto like = at::empty(shape, at::TensorOptions().dtype(placement.precision).device(placement.device));
  return sigma * normal({at.seed, at.first_chain, 0}, Stream::start, like);
}

Tensor heun(const Score& prior, Tensor x, const HeunOptions& options, const Cursor& at) {
  c10::NoGradGuard no_gradients;
  const auto& sigmas = options.sigmas;
  require_sigmas(sigmas);
  const auto steps = static_cast<int64_t>(sigmas.size()) - 1;
  for (int64_t i = 0; i < steps; ++i) {
    const double sigma_hat = raised(sigmas[i], static_cast<double>(steps), options.churn, prior);
    if (sigma_hat > sigmas[i]) {
      const auto z = normal({at.seed, at.first_chain, i}, Stream::churn, x);
      x = x + options.churn.noise * std::sqrt(sigma_hat * sigma_hat - sigmas[i] * sigmas[i]) * z;
    }
    const double sigma = sigmas[i + 1];
    // A score with an error of its own makes another one at each of the step's two evaluations.
    const auto denoised = prior.denoise(x, sigma_hat, {at.seed, at.first_chain, 2 * i});
    if (sigma == 0) {
      x = denoised;  // Euler's step to 0, without its rounding; there is no slope at 0 to correct it with
    } else {
      const auto d = (x - denoised) / sigma_hat;
      const auto euler = x + (sigma - sigma_hat) * d;
      const auto corrected = (euler - prior.denoise(euler, sigma, {at.seed, at.first_chain, 2 * i + 1})) / sigma;
      x = x + (sigma - sigma_hat) / 2 * (d + corrected);
    }
    options.after_step(i + 1);
  }
  return x;
}

}  // namespace penumbra
