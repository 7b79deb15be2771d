/// A sampler's step on a GPU, recorded once as a CUDA graph and replayed: the host neither launches its kernels one by
/// one nor waits. Where a step cannot be recorded, it is called.
#pragma once

#include <memory>
#include <string>

#include "samplers/capturable.h"

namespace penumbra {

class GraphStep {
 public:
  explicit GraphStep(const Sampler& sampler);
  ~GraphStep();
  GraphStep(GraphStep&&) noexcept;
  GraphStep& operator=(GraphStep&&) noexcept;

  /// Sampler::step. The first call for a number of chains, or for other operations, also records.
  StepInfo operator()(ChainState& state);

  /// How the last step was taken: "CUDA graph", or why not; empty on a CPU.
  const std::string& how() const { return how_; }

 private:
  struct Recording;

  /// Records iteration state.k, or says why it cannot be.
  std::string record(const ChainState& state);
  StepInfo replay(ChainState& state);

  const Sampler* sampler_;
  const CapturableSampler* capturable_;  ///< null: not one of those
  std::unique_ptr<Recording> recording_;
  std::string refused_;  ///< why an attempt failed: no second one
  std::string how_;
};

}  // namespace penumbra
