#include "team/team.h"

#include <ATen/ATen.h>

#include <filesystem>

#include "core/error.h"
#include "team/backend.h"

namespace penumbra {
namespace {

/// Messages of c10d end in a stack trace.
std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

template <typename Action>
void together(const Launch& launch, Action action) {
  try {
    action();
  } catch (const std::exception& error) {
    machine_error("process {} of {}: another process of this run has ended or does not answer ({})", launch.rank,
                  launch.size, first_line(error.what()));
  }
}

/// Calls `collective` on x, or on a copy where the backend can use it, whose result then goes to x.
template <typename Collective>
void in_place(Tensor& x, const at::Device& device, Collective collective) {
  auto usable = x.to(device).contiguous();
  collective(usable);
  if (!usable.is_same(x)) x.copy_(usable);
}

}  // namespace

Team Team::from_environment(const at::Device& device) { return join(launch_from(environment()), device); }

Team Team::join(const Launch& launch, const at::Device& device) {
  Team team;
  team.launch_ = launch;
  if (launch.size == 1) return team;
  try {
    team.backend_ = connect(launch, device);
  } catch (const InputError&) {
    throw;
  } catch (const std::exception& error) {
    machine_error("process {} of {}: cannot join the others at {}:{} ({})", launch.rank, launch.size, launch.address,
                  launch.port, first_line(error.what()));
  }
  team.wait();
  return team;
}

void Team::sum(Tensor& x) const {
  if (!backend_) return;
  together(launch_, [&] { in_place(x, backend_->device(), [&](Tensor& usable) { backend_->sum(usable); }); });
}

void Team::broadcast(Tensor& x) const {
  if (!backend_) return;
  together(launch_, [&] { in_place(x, backend_->device(), [&](Tensor& usable) { backend_->broadcast(usable); }); });
}

Tensor Team::gather(const Tensor& part) const {
  if (!backend_) return part;
  auto rows = at::zeros({size()}, at::kLong);
  rows[rank()] = part.size(0);
  sum(rows);
  // The backends want parts of equal shape.
  auto shape = part.sizes().vec();
  shape[0] = rows.max().item<int64_t>();
  const auto padded = at::zeros(shape, part.options().device(backend_->device()));
  padded.narrow(0, 0, part.size(0)).copy_(part);
  std::vector<Tensor> parts;
  for (int64_t i = 0; leads() && i < size(); ++i) parts.push_back(at::empty_like(padded));
  together(launch_, [&] { backend_->gather(parts, padded); });
  if (!leads()) return part.narrow(0, 0, 0);
  for (int64_t i = 0; i < size(); ++i) parts[i] = parts[i].narrow(0, 0, rows[i].item<int64_t>());
  return at::cat(parts).to(part.device());
}

bool Team::any(bool flag) const {
  if (!backend_) return flag;
  auto flags = at::scalar_tensor(static_cast<int64_t>(flag), at::kLong);
  sum(flags);
  return flags.item<int64_t>() > 0;
}

bool Team::agree(int64_t number) const {
  auto leaders = at::scalar_tensor(number, at::kLong);
  broadcast(leaders);
  return !any(leaders.item<int64_t>() != number);
}

int64_t Team::lead(const std::function<int64_t()>& action) const {
  if (!backend_) return action();
  enum Kind : int64_t { well, bad_input, bad_machine };
  int64_t kind = well, result = 0;
  std::exception_ptr error;
  if (leads()) {
    try {
      result = action();
    } catch (const InputError&) {
      error = std::current_exception(), kind = bad_input;
    } catch (const std::filesystem::filesystem_error&) {
      error = std::current_exception(), kind = bad_input;
    } catch (...) {
      error = std::current_exception(), kind = bad_machine;
    }
  }
  auto told = at::tensor({kind, result}, at::kLong);
  broadcast(told);
  if (error) std::rethrow_exception(error);
  kind = told[0].item<int64_t>();
  if (kind == bad_input) input_error("process 0 ended this run; its message says why");
  if (kind == bad_machine) machine_error("process 0 ended this run; its message says why");
  return told[1].item<int64_t>();
}

at::Device device_of(const Launch& launch, const at::Device& device, int64_t gpus) {
  if (!device.is_cuda() || device.has_index() || launch.size == 1 || gpus == 0) return device;
  // Modulo: srun --gpus-per-task=1 shows every process one GPU, number 0.
  return {at::kCUDA, static_cast<at::DeviceIndex>(launch.local_rank % gpus)};
}

}  // namespace penumbra
