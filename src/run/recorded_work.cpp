#include "run/recorded_work.h"

#include "core/error.h"

#ifdef PENUMBRA_CUDA
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#endif

namespace penumbra {

#ifndef PENUMBRA_CUDA

struct RecordedWork::Graph {};

std::string RecordedWork::record(const at::Device& /*device*/, const std::function<void()>& /*rehearse*/,
                                 const std::function<void()>& /*work*/) {
  return "this build has no CUDA";
}

void RecordedWork::replay() { machine_error("CUDA: this build has no graphs"); }

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

struct RecordedWork::Graph {
  explicit Graph(const at::Device& on) : device(on) {}
  at::Device device;
  at::cuda::CUDAGraph graph;
};

std::string RecordedWork::record(const at::Device& device, const std::function<void()>& rehearse,
                                 const std::function<void()>& work) {
  graph_ = std::make_unique<Graph>(device);
  const c10::cuda::CUDAGuard on(device);
  const auto aside = c10::cuda::getStreamFromPool(/*isHighPriority=*/false, device.index());
  try {
    c10::cuda::getCurrentCUDAStream().synchronize();
    const c10::cuda::CUDAStreamGuard side(aside);
    // Libraries choose algorithms and make plans at the first calls, which no graph may hold.
    for (int i = 0; i < 3; ++i) rehearse();
    {
      const NoWaiting check;
      rehearse();
    }
    aside.synchronize();
    // What the rehearsal took would not be given to the graph, which has memory of its own.
    c10::cuda::CUDACachingAllocator::emptyCache();
    Capture capture(graph_->graph);
    work();
    capture.end();
  } catch (const std::exception& error) {
    // Behind the first line LibTorch says where it was thrown.
    return first_line(error.what());
  }
  return {};
}

void RecordedWork::replay() {
  const c10::cuda::CUDAGuard on(graph_->device);
  graph_->graph.replay();
}

#endif

RecordedWork::RecordedWork() = default;
RecordedWork::~RecordedWork() = default;
RecordedWork::RecordedWork(RecordedWork&&) noexcept = default;
RecordedWork& RecordedWork::operator=(RecordedWork&&) noexcept = default;

}  // namespace penumbra
