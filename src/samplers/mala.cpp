#include "samplers/mala.h"

#include "core/error.h"
#include "samplers/metropolis.h"

namespace penumbra {

Mala::Mala(Posterior posterior, uint64_t seed, Options options)
    : posterior_(std::move(posterior)), seed_(seed), options_(options) {}

StepInfo Mala::step(ChainState& state) const {
  const auto [gamma, sigma] = options_;
  const auto move =
      adjusted_move(posterior_, state.x, sigma, gamma, {seed_, state.first_chain, state.k}, Stream::resample);
  if (!move) input_error("mala: the log density of the prior is not known at sigma = {:g}", sigma);
  state.x = move->x;
  ++state.k;
  return {.sigma = sigma,
          .alpha = 1,
          .step_size = gamma,
          .grad_norm = norm_per_chain(move->grad_g),
          .score_norm = norm_per_chain(move->score),
          .acceptance = move->acceptance};
}

void Mala::require_log_density(Settings& settings, const Score& prior) {
  const auto draw = prior.draw(1, {});
  if (!draw || !prior.log_density(*draw, 0))
    settings.fail("kind",
                  "mala needs the prior's log density, and this prior has a score alone, as all learned ones do; "
                  "expected prior.kind gaussian, gaussian_mixture or random_field, or another sampler");
}

namespace {

std::unique_ptr<Sampler> make(Settings& settings, const SamplerContext& context) {
  Mala::require_log_density(settings, *context.posterior.prior);
  Mala::Options options;
  options.sigma = settings.number("sigma", 0, not_negative);
  options.gamma = settings.number("step_size", positive);
  return std::make_unique<Mala>(context.posterior, context.seed, options);
}

}  // namespace

extern const SamplerEntry mala{.name = "mala",
                               .summary = "Langevin with a Metropolis test: no step-size bias; analytic priors only",
                               .make = make,
                               .adjusted = true};

}  // namespace penumbra
