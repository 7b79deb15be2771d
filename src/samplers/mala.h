/// A chain of Langevin steps with a Metropolis test (samplers/metropolis.h), at one sigma.
#pragma once

#include "samplers/sampler.h"

namespace penumbra {

class Mala final : public Sampler {
 public:
  struct Options {
    double gamma = 0;
    double sigma = 0;
  };
  Mala(Posterior posterior, uint64_t seed, Options options);
  StepInfo step(ChainState& state) const override;
  Annealing annealing(int64_t) const override { return {options_.sigma, 1}; }
  double step_size() const override { return options_.gamma; }
  bool is_the_papers() const override { return false; }

  /// Throws InputError at `settings`' key `kind` where the prior's log density is not known: all learned ones.
  static void require_log_density(Settings& settings, const Score& prior);

 private:
  Posterior posterior_;
  uint64_t seed_;
  Options options_;
};

}  // namespace penumbra
