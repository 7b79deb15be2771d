/// Step size, noise levels and length of a run from the problem itself, so that prior and likelihood are a sufficient
/// configuration. docs/samplers.md has the formulas.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/settings.h"
#include "samplers/sampler.h"

namespace penumbra::app {

/// A value that the configuration did not give.
struct Derived {
  std::string key;  ///< within the section `sampler`
  double value = 0;
  std::string why;
};

/// Puts a value where the section needs one and gives none, for the sampler that it names. What cannot be derived (the
/// likelihood's curvature is not known, the prior says nothing of its pixels) is asked for.
std::vector<Derived> derive_defaults(Settings& sampler, const SamplerEntry& entry, const Posterior& posterior);

/// What the configuration left open and the program decided, for summaries.
nlohmann::json describe_derived(const std::vector<Derived>& derived);

}  // namespace penumbra::app
