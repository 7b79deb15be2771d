#include "run/graph_step.h"

#include <ATen/ATen.h>

#include "run/recorded_work.h"

namespace penumbra {

struct GraphStep::Recording {
  Tensor x, values;  ///< read by the graph: the iterate, which it also writes, and StepNumbers
  Moved moved;       ///< written by the graph
  int64_t first_chain = 0, operations = 0;
  RecordedWork graph;

  bool serves(const ChainState& state, int64_t wanted) const {
    return operations == wanted && first_chain == state.first_chain && x.sizes() == state.x.sizes() &&
           x.device() == state.x.device();
  }
};

std::string GraphStep::record(const ChainState& state) {
  recording_.reset();
  auto recording = std::make_unique<Recording>();
  recording->x = state.x.clone();
  recording->values = at::zeros({5}, state.x.options().dtype(at::kDouble));
  capturable_->numbers(state.k).write(recording->values);
  recording->first_chain = state.first_chain;
  recording->operations = capturable_->operations(state.k);
  const auto scalars = StepScalars::in(recording->values);
  const Cursor at{capturable_->seed(), state.first_chain, state.k};
  const auto move = [&] { return capturable_->move(recording->x, scalars, at); };
  const auto refusal = recording->graph.record(
      state.x.device(), [&] { move(); },
      [&] {
        recording->moved = move();
        recording->x.copy_(recording->moved.x);
      });
  if (refusal.empty()) recording_ = std::move(recording);
  return refusal;
}

StepInfo GraphStep::replay(ChainState& state) {
  auto& [x, values, moved, first_chain, operations, graph] = *recording_;
  const auto now = capturable_->numbers(state.k);
  x.copy_(state.x);
  now.write(values);
  graph.replay();
  const auto before = state.x;
  // Copies: the next replay writes over what it wrote.
  state.x = x.clone();
  ++state.k;
  capturable_->carry(before, now, state);
  return {now.sigma, now.alpha, now.gamma, moved.grad_norm.clone(), moved.score_norm.clone()};
}

GraphStep::GraphStep(const Sampler& sampler)
    : sampler_(&sampler), capturable_(dynamic_cast<const CapturableSampler*>(&sampler)) {}
GraphStep::~GraphStep() = default;
GraphStep::GraphStep(GraphStep&&) noexcept = default;
GraphStep& GraphStep::operator=(GraphStep&&) noexcept = default;

StepInfo GraphStep::operator()(ChainState& state) {
  if (!state.x.is_cuda()) return sampler_->step(state);
  const auto called = [&](std::string why) {
    how_ = std::move(why);
    return sampler_->step(state);
  };
  if (capturable_ == nullptr) return called("the sampler's steps are not the same operations");
  if (state.x.scalar_type() != at::kFloat) return called("the chains are not float32");  // their update is no kernel
  if (const auto obstacle = capturable_->obstacle(state.k)) return called(*obstacle);
  if (!refused_.empty()) return called(refused_);
  capturable_->require_level(state.k);
  if (!recording_ || !recording_->serves(state, capturable_->operations(state.k))) {
    refused_ = record(state);
    if (!refused_.empty()) return called(refused_);
  }
  how_ = "CUDA graph";
  return replay(state);
}

}  // namespace penumbra
