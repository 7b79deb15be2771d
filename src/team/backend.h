/// What a team needs of LibTorch's c10d. The source file is the only one that knows which backends this LibTorch has.
#pragma once

#include <memory>
#include <vector>

#include "core/tensor.h"
#include "team/launch.h"

namespace penumbra {

/// Collective calls on contiguous tensors that live on `device()`. They throw what c10d throws.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual at::Device device() const = 0;
  virtual void sum(Tensor& x) const = 0;
  virtual void broadcast(Tensor& x) const = 0;
  /// Parts of equal shape; `parts` is one tensor a process on rank 0, empty elsewhere.
  virtual void gather(std::vector<Tensor> parts, Tensor part) const = 0;
};

/// Whether this build can connect processes that compute there.
bool can_connect(const at::Device& device);

/// NCCL for a GPU, else Gloo. Returns once every process is there.
std::shared_ptr<const Backend> connect(const Launch& launch, const at::Device& device);

}  // namespace penumbra
