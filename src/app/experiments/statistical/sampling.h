/// The four samplers of the comparison.
#pragma once

#include <array>
#include <string>

#include "app/experiments/statistical/setting.h"

namespace penumbra::app::statistical {

struct Algorithm {
  std::string name;
  Discretization discretization;
  bool annealed;
};
const std::array<Algorithm, 4>& algorithms();

struct Samples {
  Tensor x;  ///< the last iterate of every chain, float64 [chains, n]
  double seconds = 0;
};
Samples sample(const Setting& setting, const Algorithm& algorithm, uint64_t seed);

}  // namespace penumbra::app::statistical
