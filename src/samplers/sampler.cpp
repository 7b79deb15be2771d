#include "samplers/sampler.h"

#include "core/named.h"

namespace penumbra {

const SamplerEntry& sampler_entry(Settings& settings) {
  return *find_named(sampler_entries(), settings.choice("kind", names_of(sampler_entries())));
}

}  // namespace penumbra
