/// The processes that share a run, over LibTorch's own c10d: Gloo between CPUs, NCCL between GPUs.
///
///   Team team;                                    alone: does nothing, costs nothing
///   auto team = Team::from_environment(device);   what torchrun, srun or mpirun started together
///   team.rank(), team.size(), team.leads()        leads: rank 0
///   team.sum(x)          x <- the sum over all processes, in place
///   team.broadcast(x)    x <- rank 0's x, in place
///   team.gather(part)    on rank 0 the rows of all, in rank order; elsewhere no rows
///   team.any(flag)       whether any process says so: an interrupt stops all at the same step
///   team.agree(number)   whether all processes have the same number
///   team.wait()          until all are here
///   team.lead(action)    rank 0 acts; all get its result, or an error of the same kind
///
/// Every call is made by all processes, in the same order, with tensors of the same shape and type (gather: but for the
/// number of rows). Types: float32, float64, int64. Tensors may be on any device and need not be contiguous. A process
/// that ended, or does not answer in time, is a MachineError in the others.
#pragma once

#include <functional>
#include <memory>

#include "core/tensor.h"
#include "team/launch.h"

namespace penumbra {

class Backend;

class Team {
 public:
  /// Alone.
  Team() = default;
  static Team alone() { return {}; }

  /// Joins the processes that a launcher started together; alone where none did. `device` is where this one computes.
  static Team from_environment(const at::Device& device);
  static Team join(const Launch& launch, const at::Device& device);

  int64_t rank() const { return launch_.rank; }
  int64_t size() const { return launch_.size; }
  bool leads() const { return rank() == 0; }

  void sum(Tensor& x) const;
  void broadcast(Tensor& x) const;
  Tensor gather(const Tensor& part) const;
  bool any(bool flag) const;
  bool agree(int64_t number) const;
  void wait() const { any(false); }
  int64_t lead(const std::function<int64_t()>& action) const;

 private:
  Launch launch_;
  std::shared_ptr<const Backend> backend_;  // null: alone
};

/// The GPU of this process where several share a node: a `cuda` without a number gets one, any other device is kept.
at::Device device_of(const Launch& launch, const at::Device& device, int64_t gpus);

}  // namespace penumbra
