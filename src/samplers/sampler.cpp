#include "samplers/sampler.h"

#include "core/named.h"

namespace penumbra {

int64_t settled_at(const Sampler& sampler, int64_t steps) {
  const auto last = sampler.annealing(steps - 1);
  int64_t k = steps - 1;
  for (; k > 0; --k) {
    const auto before = sampler.annealing(k - 1);
    if (before.sigma != last.sigma || before.alpha != last.alpha) break;
  }
  return k;
}

const SamplerEntry& sampler_entry(Settings& settings) {
  return *find_named(sampler_entries(), settings.choice("kind", names_of(sampler_entries()), "apmc-pnp"));
}

}  // namespace penumbra
