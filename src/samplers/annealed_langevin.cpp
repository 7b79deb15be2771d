/// Annealed Langevin dynamics (Song and Ermon 2019): the unconditional mode. There must be no data.
///
/// At level i, of `levels` between sigma_0 and sigma_min evenly in log sigma, `steps / levels` steps are taken with
/// step size gamma_i = step_size * sigma_i^2 / sigma_min^2, so that the signal-to-noise of a step is the same at all
/// levels.
#include <ATen/ATen.h>

#include "samplers/sampler.h"

namespace penumbra {
namespace {

class AnnealedLangevin final : public Sampler {
 public:
  struct Options {
    double gamma_min, sigma_0, sigma_min;
    int64_t levels, steps_per_level;
  };
  AnnealedLangevin(Posterior posterior, uint64_t seed, Options options)
      : posterior_(std::move(posterior)), seed_(seed), options_(options) {}

  StepInfo step(ChainState& state) const override {
    const double sigma_i = sigma(state.k);
    const double gamma_i = options_.gamma_min * std::pow(sigma_i / options_.sigma_min, 2);
    const Cursor at{seed_, state.first_chain, state.k};

    const auto z = normal(at, Stream::langevin, state.x);
    const auto score = posterior_.prior->score(state.x, sigma_i, at);
    state.x = state.x + gamma_i * score + std::sqrt(2 * gamma_i) * z;
    ++state.k;

    return {sigma_i, 1, gamma_i, state.x.new_zeros({state.x.size(0)}), norm_per_chain(score)};
  }
  Annealing annealing(int64_t k) const override { return {sigma(k), 1}; }
  double step_size() const override { return options_.gamma_min; }

 private:
  double sigma(int64_t k) const {
    const auto level = std::min(k / options_.steps_per_level, options_.levels - 1);
    const double t = options_.levels > 1 ? static_cast<double>(level) / static_cast<double>(options_.levels - 1) : 1;
    return options_.sigma_0 * std::pow(options_.sigma_min / options_.sigma_0, t);
  }

  Posterior posterior_;
  uint64_t seed_;
  Options options_;
};

std::unique_ptr<Sampler> make(Settings& settings, const SamplerContext& context) {
  if (context.posterior.likelihood->has_data())
    settings.fail("kind",
                  "annealed-langevin draws from the prior and would ignore the data; expected likelihood.kind: none");
  AnnealedLangevin::Options options{};
  options.sigma_0 = settings.number("sigma_0", positive);
  options.sigma_min = settings.number("sigma_min", {0, options.sigma_0, true});
  // A step of a tenth of the smallest variance is well inside the stability limit 2 sigma_min^2.
  options.gamma_min = settings.number("step_size", 0.1 * options.sigma_min * options.sigma_min, positive);
  options.levels = settings.integer("levels", std::max<int64_t>(1, std::min<int64_t>(context.steps / 5, 200)),
                                    {1, static_cast<double>(context.steps)});
  options.steps_per_level = std::max<int64_t>(1, context.steps / options.levels);
  return std::make_unique<AnnealedLangevin>(context.posterior, context.seed, options);
}

}  // namespace

extern const SamplerEntry annealed_langevin{
    .name = "annealed-langevin", .summary = "unconditional generation from the prior", .make = make, .annealed = true};

}  // namespace penumbra
