#include "samplers/capturable.h"

#include <ATen/ATen.h>

namespace penumbra {

StepInfo CapturableSampler::step(ChainState& state) const {
  const auto now = numbers(state.k);
  const auto x = state.x;
  const auto moved = move(x, StepScalars::of(now), {seed_, state.first_chain, state.k});
  state.x = moved.x;
  ++state.k;
  carry(x, now, state);
  return {now.sigma, now.alpha, now.gamma, moved.grad_norm, moved.score_norm};
}

std::optional<std::string> CapturableSampler::obstacle(int64_t /*k*/) const {
  if (posterior_.prior->takes_held_sigma()) return std::nullopt;
  return "the prior must be told its sigma by the host";
}

Tensor CapturableSampler::score(const Tensor& x, const StepScalars& numbers, const Cursor& at) const {
  const auto& S = *posterior_.prior;
  return numbers.known ? S.score(x, numbers.known->sigma, at) : S.score_held(x, numbers.sigma);
}

}  // namespace penumbra
