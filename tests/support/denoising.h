/// Denoising, the problem whose penalised solutions are known, and samplers that need no prior.
#pragma once

#include <ATen/ATen.h>

#include "core/named.h"
#include "likelihoods/gaussian.h"
#include "models/dense.h"
#include "samplers/sampler.h"
#include "support/numbers.h"

namespace penumbra::test {

/// |x - y|^2 / (2 beta^2).
inline std::shared_ptr<const Likelihood> denoising(const Tensor& y, double beta) {
  const Shape shape = y.sizes().vec();
  return std::make_shared<GaussianLikelihood>(std::make_shared<DenseModel>(shape, at::eye(y.numel(), float64)),
                                              y.flatten(), beta);
}

/// For a run of ten steps.
inline std::unique_ptr<Sampler> make_sampler(const char* kind, std::shared_ptr<const Likelihood> likelihood,
                                             const std::string& options) {
  auto settings = Settings::from_text(options, "test");
  auto sampler = find_named(sampler_entries(), kind)->make(settings, {{std::move(likelihood), nullptr}, 0, 10});
  settings.finish();
  return sampler;
}

inline Tensor after_steps(const Sampler& sampler, Tensor start, int steps) {
  ChainState state{std::move(start)};
  for (int k = 0; k < steps; ++k) sampler.step(state);
  return state.x;
}

}  // namespace penumbra::test
