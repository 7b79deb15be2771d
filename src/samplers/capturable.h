/// A sampler whose iterations are all the same operations on x and a few numbers, so that a device can be taught one
/// and repeat it (run/graph_step.h).
#pragma once

#include "samplers/sampler.h"
#include "samplers/step_numbers.h"

namespace penumbra {

/// What a step makes of x_k.
struct Moved {
  Tensor x;                      ///< x_{k+1}
  Tensor grad_norm, score_norm;  ///< as in StepInfo
};

class CapturableSampler : public Sampler {
 public:
  CapturableSampler(Posterior posterior, uint64_t seed) : posterior_(std::move(posterior)), seed_(seed) {}

  StepInfo step(ChainState& state) const override;

  /// x_k -> x_{k+1}: the algorithm. `at.k` is that of the numbers, or unknown where only memory has them.
  virtual Moved move(const Tensor& x, const StepScalars& numbers, const Cursor& at) const = 0;
  virtual StepNumbers numbers(int64_t k) const = 0;

  /// What of the step is no part of those operations: called with x_k when `state` has x_{k+1}.
  virtual void carry(const Tensor& /*x*/, const StepNumbers& /*numbers*/, ChainState& /*state*/) const {}

  /// Iterations with the same answer are the same operations.
  virtual int64_t operations(int64_t /*k*/) const { return 0; }
  /// Why iteration k cannot be recorded; none: it can, as far as the sampler and its prior know.
  virtual std::optional<std::string> obstacle(int64_t k) const;

  /// Throws InputError where the prior does not know iteration k's sigma: what a recorded step cannot ask.
  void require_level(int64_t k) const { posterior_.prior->require_sigma(numbers(k).sigma); }

  uint64_t seed() const { return seed_; }

 protected:
  const Posterior& posterior() const { return posterior_; }
  /// S(x, sigma), whoever has sigma.
  Tensor score(const Tensor& x, const StepScalars& numbers, const Cursor& at) const;

 private:
  Posterior posterior_;
  uint64_t seed_;
};

}  // namespace penumbra
