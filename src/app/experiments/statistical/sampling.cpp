#include "app/experiments/statistical/sampling.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <chrono>

#include "likelihoods/gaussian.h"
#include "models/dense.h"
#include "run/start.h"
#include "samplers/pmc.h"

namespace penumbra::app::statistical {
namespace {

/// Rounding at 1e-7 is far below the noise of a step, sqrt(2 gamma) = .045; the exact side is float64.
const Placement placement{at::kFloat, at::kCPU};
/// Chains stepped together: their images fit in the cache. The noise does not depend on it.
constexpr int64_t batch = 125;

Posterior make_posterior(const Setting& setting) {
  const auto model = std::make_shared<DenseModel>(setting.image_shape(), place(setting.A, placement));
  return {std::make_shared<GaussianLikelihood>(model, place(setting.y, placement), setting.parameters.beta),
          make_prior(setting.parameters, setting.images, placement)};
}

std::unique_ptr<Sampler> make_sampler(const Setting& setting, const Algorithm& algorithm, uint64_t seed) {
  const auto& p = setting.parameters;
  const auto posterior = make_posterior(setting);
  if (!algorithm.annealed)
    return std::make_unique<Pmc>(posterior, seed, Pmc::Options{algorithm.discretization, p.gamma, p.sigma_min});
  const auto schedule = std::make_shared<GeometricSchedule>(
      GeometricSchedule::Options{.sigma_0 = p.sigma_0, .sigma_min = p.sigma_min, .xi = p.xi, .alpha_0 = p.alpha_0});
  return std::make_unique<AnnealedPmc>(posterior, seed,
                                       AnnealedPmc::Options{algorithm.discretization, p.gamma, schedule});
}

}  // namespace

const std::array<Algorithm, 4>& algorithms() {
  static const std::array<Algorithm, 4> list{{{"PMC-PnP", Discretization::pnp, false},
                                              {"APMC-PnP", Discretization::pnp, true},
                                              {"PMC-RED", Discretization::red, false},
                                              {"APMC-RED", Discretization::red, true}}};
  return list;
}

Samples sample(const Setting& setting, const Algorithm& algorithm, uint64_t seed) {
  const c10::NoGradGuard no_gradients;
  const auto begin = std::chrono::steady_clock::now();
  const auto& p = setting.parameters;
  const auto sampler = make_sampler(setting, algorithm, seed);
  Start start;
  start.low = -p.start, start.high = p.start;
  std::vector<Tensor> parts;
  for (int64_t first = 0; first < p.chains; first += batch) {
    auto state = initial_state(start, *setting.prior, seed, first, std::min(batch, p.chains - first), placement);
    while (state.k < p.steps) sampler->step(state);
    parts.push_back(flat(state.x).to(at::kDouble));
  }
  return {at::cat(parts), std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()};
}

}  // namespace penumbra::app::statistical
