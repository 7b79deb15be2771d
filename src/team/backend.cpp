#include "team/backend.h"

#include <ATen/ATen.h>
#include <torch/version.h>

#include <chrono>
#include <csignal>
#include <cstdlib>

#include "core/error.h"

// cmake/team.cmake finds out which of them there are.
#if defined(PENUMBRA_GLOO) || defined(PENUMBRA_NCCL)
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#endif
#ifdef PENUMBRA_GLOO
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#endif
#ifdef PENUMBRA_NCCL
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>
#endif

namespace penumbra {
namespace {
#if defined(PENUMBRA_GLOO) || defined(PENUMBRA_NCCL)

/// `Group` is ProcessGroupGloo or ProcessGroupNCCL: their common base has another name in every second LibTorch.
template <typename Group>
class Connected final : public Backend {
 public:
  Connected(c10::intrusive_ptr<Group> group, at::Device device) : group_(std::move(group)), device_(device) {}

  at::Device device() const override { return device_; }
  void sum(Tensor& x) const override {
    std::vector<Tensor> tensors{x};
    group_->allreduce(tensors)->wait();
  }
  void broadcast(Tensor& x) const override {
    std::vector<Tensor> tensors{x};
    group_->broadcast(tensors)->wait();
  }
  void gather(std::vector<Tensor> parts, Tensor part) const override {
    std::vector<std::vector<Tensor>> outputs;
    if (!parts.empty()) outputs.push_back(std::move(parts));
    std::vector<Tensor> inputs{std::move(part)};
    group_->gather(outputs, inputs)->wait();
  }

 private:
  c10::intrusive_ptr<Group> group_;
  at::Device device_;
};

template <typename Group>
std::shared_ptr<const Backend> join(const Launch& launch, const at::Device& device,
                                    c10::intrusive_ptr<typename Group::Options> options) {
  // c10d writes to members that may have left. Python, for which it was made, has the signal ignored; here it would
  // kill this process before the error could be told.
  std::signal(SIGPIPE, SIG_IGN);
  c10d::TCPStoreOptions meeting;
  meeting.port = launch.port;
  meeting.isServer = launch.rank == 0 && !launch.agent_serves;
  meeting.waitWorkers = false;  // the group waits for all
  meeting.timeout = std::chrono::seconds(std::min<int64_t>(launch.timeout_s, 300));
  const auto store = c10::make_intrusive<c10d::TCPStore>(launch.address, meeting);
  const auto ours = c10::make_intrusive<c10d::PrefixStore>("penumbra/" + launch.job, store);
  auto group = c10::make_intrusive<Group>(ours, static_cast<int>(launch.rank), static_cast<int>(launch.size), options);
  return std::make_shared<Connected<Group>>(group, device);
}

#endif
#ifdef PENUMBRA_GLOO

std::shared_ptr<const Backend> join_gloo(const Launch& launch) {
  using Gloo = c10d::ProcessGroupGloo;
  auto options = Gloo::Options::create(std::chrono::seconds(launch.timeout_s));
  const char* interface = std::getenv("GLOO_SOCKET_IFNAME");
  if (launch.address == "127.0.0.1" || launch.address == "localhost")
    options->devices.push_back(Gloo::createDeviceForHostname("127.0.0.1"));
  else if (interface)
    options->devices.push_back(Gloo::createDeviceForInterface(interface));
  else
    options->devices.push_back(Gloo::createDefaultDevice());
  return join<Gloo>(launch, at::kCPU, options);
}

#endif
#ifdef PENUMBRA_NCCL

std::shared_ptr<const Backend> join_nccl(const Launch& launch, const at::Device& device) {
  auto options = c10d::ProcessGroupNCCL::Options::create();
#if TORCH_VERSION_MAJOR >= 2
  options->timeout = std::chrono::seconds(launch.timeout_s);
#endif
  return join<c10d::ProcessGroupNCCL>(launch, device, options);
}

#endif
}  // namespace

bool can_connect([[maybe_unused]] const at::Device& device) {
#ifdef PENUMBRA_GLOO
  return true;
#elif defined(PENUMBRA_NCCL)
  return device.is_cuda();
#else
  return false;
#endif
}

std::shared_ptr<const Backend> connect(const Launch& launch, const at::Device& device) {
#ifdef PENUMBRA_NCCL
  if (device.is_cuda()) return join_nccl(launch, device);
#endif
#ifdef PENUMBRA_GLOO
  return join_gloo(launch);
#endif
  input_error(
      "{} processes were launched, but this build cannot connect processes on {}: LibTorch's Gloo (CPU) or NCCL (GPU) "
      "was not found when it was built",
      launch.size, device.str());
}

}  // namespace penumbra
