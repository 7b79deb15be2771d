#include "app/denoiser_curvature.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include "likelihoods/gaussian.h"

namespace penumbra::app {

std::optional<double> curvature_through_denoiser(const Posterior& posterior, double sigma, double sigma_0) {
  constexpr int steps = 8;  // within some percent; it sets the order of a step
  const auto* gaussian = dynamic_cast<const GaussianLikelihood*>(posterior.likelihood.get());
  if (!gaussian || !gaussian->model().linear()) return std::nullopt;
  const c10::NoGradGuard no_gradients;
  const auto& [g, S] = posterior;
  Shape one = g->image_shape();
  one.insert(one.begin(), 1);
  const auto noise = [&](int64_t k) {
    return normal({0, 0, k}, Stream::probe, at::empty(one, gaussian->real_options()));
  };
  const auto x = S->denoise(sigma_0 * noise(1), sigma_0) + sigma * noise(2);
  auto v = noise(3);
  double curvature = 0;
  for (int step = 0; step < steps; ++step) {
    v = v / v.norm();
    // The Jacobian of a denoiser is symmetric: J v is J^T v.
    const auto seen = S->denoise_vjp(x, sigma).vjp(v);
    const auto pulled = gaussian->model().vjp(seen, gaussian->model().apply(seen));
    v = S->denoise_vjp(x, sigma).vjp(pulled);
    curvature = v.norm().item<double>();
    if (!(curvature > 0)) break;
  }
  const double beta = gaussian->noise_sd().value();
  return curvature / (beta * beta);
}

}  // namespace penumbra::app
