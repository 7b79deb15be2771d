/// Networks of random weights, none of which is zero.
#pragma once

#include "networks/network.h"

namespace penumbra::test {

/// Layers that start at zero would hide what is before them; weights that start at one would hide themselves.
inline std::map<std::string, Tensor> random_weights(const Architecture& architecture, uint64_t seed = 1) {
  auto specs = architecture.parameters();
  for (auto& spec : specs)
    if (spec.initial == Initial::zero) {
      spec.initial = Initial::fan_in;
      spec.fan_in = 64;
    }
  auto tensors = initial_parameters(specs, seed);
  for (const auto& spec : specs)
    if (spec.initial == Initial::one)
      for (int64_t i = 0; i < spec.shape[0]; ++i) tensors[spec.name][i] += 0.3 * std::sin(7.0 * static_cast<double>(i));
  return tensors;
}

inline std::shared_ptr<const Network> network_of(const Architecture& architecture,
                                                 const std::map<std::string, Tensor>& tensors) {
  return architecture.make([&](const ParameterSpec& spec) { return tensors.at(spec.name); });
}

}  // namespace penumbra::test
