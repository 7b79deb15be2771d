/// PnP-ULA (Laumont et al. 2022, projected form): the PMC-RED step followed by a projection onto a box C.
///
/// The variants are those of the paper's supplement: NP projects onto a box that no iterate leaves, and is PMC-RED; Cus
/// takes Laumont's box [-1, 2] with PMC-RED's sigma; Ori takes his sigma = 5/255 too.
#include <ATen/ATen.h>

#include "samplers/sampler.h"

namespace penumbra {
namespace {

class PnpUla final : public Sampler {
 public:
  struct Options {
    double gamma, sigma, alpha, low, high;
  };
  PnpUla(Posterior posterior, uint64_t seed, Options options)
      : posterior_(std::move(posterior)), seed_(seed), options_(options) {}

  StepInfo step(ChainState& state) const override {
    const auto& [g, S] = posterior_;
    const auto [gamma, sigma, alpha, low, high] = options_;
    const auto& x = state.x;
    const Cursor at{seed_, state.first_chain, state.k};

    const auto z = normal(at, Stream::langevin, x);
    const auto grad_g = g->grad(x);
    const auto score = S->score(x, sigma, at);
    state.x = (x - gamma * (grad_g - alpha * score) + std::sqrt(2 * gamma) * z).clamp(low, high);
    ++state.k;

    return {sigma, alpha, gamma, norm_per_chain(grad_g), norm_per_chain(score)};
  }
  Annealing annealing(int64_t) const override { return {options_.sigma, options_.alpha}; }
  double step_size() const override { return options_.gamma; }

 private:
  Posterior posterior_;
  uint64_t seed_;
  Options options_;
};

std::unique_ptr<Sampler> make(Settings& settings, const SamplerContext& context) {
  PnpUla::Options options{};
  options.gamma = settings.number("step_size", positive);
  const auto variant = settings.choice("variant", {"np", "cus", "ori"}, "cus");
  options.sigma =
      variant == "ori" ? settings.number("sigma", 5.0 / 255, not_negative) : settings.number("sigma", not_negative);
  options.alpha = settings.number("alpha", 1, positive);
  options.low = settings.number("box_low", variant == "np" ? -1e4 : -1);
  options.high = settings.number("box_high", variant == "np" ? 1e4 : 2);
  if (!(options.low < options.high)) settings.fail("box_high", "expected more than box_low");
  return std::make_unique<PnpUla>(context.posterior, context.seed, options);
}

}  // namespace

extern const SamplerEntry pnp_ula{
    .name = "pnp-ula", .summary = "unadjusted Langevin, RED step, projected onto a box", .make = make};

}  // namespace penumbra
