/// A sampler whose state is more than one image a chain, or whose chains act on one another: all chains are stepped
/// together, in one process.
#pragma once

#include "samplers/sampler.h"

namespace penumbra {

class CoupledSampler : public Sampler {
 public:
  /// Numbers in `shared` for as many chains.
  virtual int64_t shared_numbers(int64_t chains) const = 0;
  int64_t shared_count() const final { return shared_numbers(1); }
  bool is_the_papers() const final { return false; }
};

}  // namespace penumbra
