#include "run/graph_step.h"

#include <ATen/ATen.h>

#ifdef PENUMBRA_CUDA
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#endif

namespace penumbra {

#ifndef PENUMBRA_CUDA

struct GraphStep::Recording {
  bool serves(const ChainState& /*state*/, int64_t /*operations*/) const { return false; }
};

std::string GraphStep::record(const ChainState& /*state*/) { return "this build has no CUDA"; }

StepInfo GraphStep::replay(ChainState& state) { return sampler_->step(state); }

#else

namespace {

/// While it lives, LibTorch throws where it would wait for the device.
class NoWaiting {
 public:
  NoWaiting() { c10::cuda::warning_state().set_sync_debug_mode(c10::cuda::SyncDebugMode::L_ERROR); }
  ~NoWaiting() { c10::cuda::warning_state().set_sync_debug_mode(c10::cuda::SyncDebugMode::L_DISABLED); }
  NoWaiting(const NoWaiting&) = delete;
  NoWaiting& operator=(const NoWaiting&) = delete;
};

/// Begins and, whatever happens, ends.
class Capture {
 public:
  explicit Capture(at::cuda::CUDAGraph& graph) : graph_(graph) {
    graph_.capture_begin({0, 0}, cudaStreamCaptureModeThreadLocal);
  }
  void end() {
    open_ = false;
    graph_.capture_end();
  }
  ~Capture() {
    if (!open_) return;
    try {
      graph_.capture_end();
    } catch (const std::exception&) {
      // The reason is on its way already.
    }
  }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

 private:
  at::cuda::CUDAGraph& graph_;
  bool open_ = true;
};

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

struct GraphStep::Recording {
  Tensor x, values;  ///< read by the graph: the iterate, which it also writes, and StepNumbers
  Moved moved;       ///< written by the graph
  int64_t first_chain = 0, operations = 0;
  at::cuda::CUDAGraph graph;

  bool serves(const ChainState& state, int64_t wanted) const {
    return operations == wanted && first_chain == state.first_chain && x.sizes() == state.x.sizes() &&
           x.device() == state.x.device();
  }
};

std::string GraphStep::record(const ChainState& state) {
  const c10::cuda::CUDAGuard on(state.x.device());
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
  const auto aside = c10::cuda::getStreamFromPool(/*isHighPriority=*/false, state.x.device().index());
  try {
    c10::cuda::getCurrentCUDAStream().synchronize();
    const c10::cuda::CUDAStreamGuard side(aside);
    // Libraries choose algorithms and make plans at the first calls, which no graph may hold.
    for (int i = 0; i < 3; ++i) move();
    {
      const NoWaiting check;
      move();
    }
    aside.synchronize();
    // What the rehearsal took would not be given to the graph, which has memory of its own.
    c10::cuda::CUDACachingAllocator::emptyCache();
    Capture capture(recording->graph);
    recording->moved = move();
    recording->x.copy_(recording->moved.x);
    capture.end();
  } catch (const std::exception& error) {
    // Behind the first line LibTorch says where it was thrown.
    return first_line(error.what());
  }
  recording_ = std::move(recording);
  return {};
}

StepInfo GraphStep::replay(ChainState& state) {
  const c10::cuda::CUDAGuard on(state.x.device());
  auto& [x, values, moved, first_chain, operations, graph] = *recording_;
  const auto now = capturable_->numbers(state.k);
  x.copy_(state.x);
  now.write(values);
  graph.replay();
  // Copies: the next replay writes over what it wrote.
  state.x = x.clone();
  ++state.k;
  return {now.sigma, now.alpha, now.gamma, moved.grad_norm.clone(), moved.score_norm.clone()};
}

#endif

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
