/// The trained competitor: a variational network's answer to the data, in one step from wherever x is.
///
/// It sees the data through G(x) = grad g(x) / L_g, which for a linear model and Gaussian noise is
/// A^H (A x - y) / |A|^2; the prior only says what shape the images have.
#include <ATen/ATen.h>

#include "priors/reconstruction.h"
#include "samplers/sampler.h"

namespace penumbra {
namespace {

class VarNetSampler final : public Sampler {
 public:
  VarNetSampler(Posterior posterior, Reconstructor network, double L_g)
      : posterior_(std::move(posterior)), network_(std::move(network)), L_g_(L_g) {}

  StepInfo step(ChainState& state) const override {
    const auto& g = *posterior_.likelihood;
    state.x = network_([&](const Tensor& x) { return g.grad(x) / L_g_; }, state.x);
    ++state.k;
    const auto grad_norm = norm_per_chain(g.grad(state.x));
    return {0, 1, step_size(), grad_norm, at::zeros_like(grad_norm)};
  }
  Annealing annealing(int64_t) const override { return {0, 1}; }
  double step_size() const override { return 1 / L_g_; }

 private:
  Posterior posterior_;
  Reconstructor network_;
  double L_g_;
};

/// Pixels mean what they meant in training.
void require_fit(const Settings& settings, const NetworkHeader& header, const Posterior& posterior) {
  const auto* key = settings.has("name") ? "name" : "file";
  if (header.image_shape != posterior.image_shape())
    settings.fail(key, fmt::format("expected images of {}, on which the network was trained, found {} of the prior",
                                   describe(header.image_shape), describe(posterior.image_shape())));
  const auto range = posterior.prior->pixel_range();
  if (range && *range != std::pair(header.pixel_low, header.pixel_high))
    settings.fail(key, fmt::format("expected pixels from {} to {}, as the network was trained, found {} to {} of the "
                                   "prior",
                                   header.pixel_low, header.pixel_high, range->first, range->second));
}

std::unique_ptr<Sampler> make(Settings& settings, const SamplerContext& context) {
  Reconstructor network(settings);
  require_fit(settings, network.header(), context.posterior);
  const auto L_g = context.posterior.likelihood->lipschitz();
  if (!L_g || !(*L_g > 0))
    settings.fail("kind", "varnet: expected data of a linear model with Gaussian noise, whose curvature is known");
  if (context.steps != 1)
    settings.fail("steps", fmt::format("expected 1: a second pass would start anew, found {}", context.steps));
  return std::make_unique<VarNetSampler>(context.posterior, std::move(network), *L_g);
}

}  // namespace

extern const SamplerEntry varnet{.name = "varnet",
                                 .summary = "a trained variational network's answer, deterministic",
                                 .make = make,
                                 .random = false,
                                 .langevin = false};

}  // namespace penumbra
