/// Work on a GPU, recorded once as a CUDA graph and replayed: the host launches its kernels as one.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/tensor.h"

namespace penumbra {

class RecordedWork {
 public:
  RecordedWork();
  ~RecordedWork();
  RecordedWork(RecordedWork&&) noexcept;
  RecordedWork& operator=(RecordedWork&&) noexcept;

  /// Calls `rehearse` a few times, then records `work`, on a stream of their own. Tensors that both read have to stay
  /// where they are; those that `work` makes are written anew by every replay. Empty, or why it could not be recorded:
  /// LibTorch refuses where an operation would wait for the device.
  std::string record(const at::Device& device, const std::function<void()>& rehearse,
                     const std::function<void()>& work);
  void replay();

 private:
  struct Graph;
  std::unique_ptr<Graph> graph_;
};

}  // namespace penumbra
