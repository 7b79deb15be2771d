/// The deterministic ancestors: PnP and RED as fixed-point iterations (the paper's Eq. 10 and 11), R = Id - D_sigma.
#include <ATen/ATen.h>

#include "samplers/sampler.h"

namespace penumbra {
namespace {

struct Options {
  double gamma, sigma;
  double tau;       ///< RED: weight of the residual
  double strength;  ///< PnP: share of the denoiser's correction that is taken
};

class FixedPoint : public Sampler {
 public:
  FixedPoint(const SamplerContext& context, Options options)
      : posterior_(context.posterior), seed_(context.seed), options_(options) {}
  Annealing annealing(int64_t) const override { return {options_.sigma, 1}; }
  double step_size() const override { return options_.gamma; }

 protected:
  Tensor residual(const Tensor& x, const Cursor& at) const {
    return x - posterior_.prior->denoise(x, options_.sigma, at);
  }
  StepInfo info(const Tensor& grad_g, const Tensor& R) const {
    const double sigma = options_.sigma;
    const auto score_norm = norm_per_chain(R) / std::max(sigma * sigma, 1e-300);
    return {sigma, 1, options_.gamma, norm_per_chain(grad_g), score_norm};
  }

  Posterior posterior_;
  uint64_t seed_;
  Options options_;
};

class Pnp final : public FixedPoint {
 public:
  using FixedPoint::FixedPoint;
  StepInfo step(ChainState& state) const override {
    const auto& x = state.x;
    const double gamma = options_.gamma;
    const auto grad_g = posterior_.likelihood->grad(x);
    const auto R = options_.strength * residual(x - gamma * grad_g, {seed_, state.first_chain, state.k});
    state.x = x - gamma * (grad_g + R / gamma);
    ++state.k;
    return info(grad_g, R);
  }
};

class Red final : public FixedPoint {
 public:
  using FixedPoint::FixedPoint;
  StepInfo step(ChainState& state) const override {
    const auto& x = state.x;
    const double gamma = options_.gamma, tau = options_.tau;
    const auto grad_g = posterior_.likelihood->grad(x);
    const auto R = residual(x, {seed_, state.first_chain, state.k});
    state.x = x - gamma * (grad_g + tau * R);
    ++state.k;
    return info(grad_g, R);
  }
};

Options common(Settings& settings) {
  return {settings.number("step_size", positive), settings.number("sigma", positive), 0, 1};
}

std::unique_ptr<Sampler> make_pnp(Settings& settings, const SamplerContext& context) {
  auto options = common(settings);
  options.strength = settings.number("strength", 1, {0, 1, true});
  return std::make_unique<Pnp>(context, options);
}

std::unique_ptr<Sampler> make_red(Settings& settings, const SamplerContext& context) {
  auto options = common(settings);
  options.tau = settings.number("tau", 1 / (options.sigma * options.sigma), positive);
  return std::make_unique<Red>(context, options);
}

}  // namespace

extern const SamplerEntry pnp{.name = "pnp",
                              .summary = "plug-and-play proximal gradient (Eq. 10), deterministic",
                              .make = make_pnp,
                              .random = false,
                              .discretization = Discretization::pnp,
                              .langevin = false};
extern const SamplerEntry red{.name = "red",
                              .summary = "regularisation by denoising (Eq. 11), deterministic",
                              .make = make_red,
                              .random = false,
                              .langevin = false};

}  // namespace penumbra
