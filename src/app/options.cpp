#include "app/options.h"

#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <dlfcn.h>
#include <CLI/CLI.hpp>

#include <torch/cuda.h>
#include <cstdlib>
#include <thread>

#include "core/error.h"
#include "team/team.h"

namespace penumbra::app {

void add_machine_options(CLI::App& command, MachineOptions& options) {
  command.add_option("--device", options.device, "cpu, cuda or cuda:N (default: cuda if there is one, else cpu)");
  command.add_option("--threads", options.threads, "number of CPU threads")->check(CLI::Range(1, 1024));
}

namespace {

/// OpenBLAS with its own threads does not hear LibTorch's setting.
void set_blas_threads(int count) {
  using Setter = void (*)(int);
  if (const auto set = reinterpret_cast<Setter>(dlsym(RTLD_DEFAULT, "openblas_set_num_threads"))) set(count);
}

/// LibTorch counts cores, not their threads; on a small machine its choice leaves half of it idle. 0: LibTorch's
/// choice.
int default_threads() {
  constexpr unsigned small = 4;
  const unsigned all = std::thread::hardware_concurrency();
  return getenv("OMP_NUM_THREADS") == nullptr && all <= small ? static_cast<int>(all) : 0;
}

}  // namespace

at::Device use_machine(const MachineOptions& options) {
  if (const int threads = options.threads > 0 ? options.threads : default_threads(); threads > 0) {
    at::set_num_threads(threads);
    set_blas_threads(threads);
  }
  const bool has_cuda = at::hasCUDA();
  const auto count = has_cuda ? static_cast<int64_t>(torch::cuda::device_count()) : 0;
  // A stray RANK in the environment is no concern of a command that works alone.
  const auto of_this_process = [&](const char* any) {
    return options.team ? device_of(launch_from(environment()), at::Device(any), count) : at::Device(any);
  };
  if (options.device.empty()) return of_this_process(has_cuda ? "cuda" : "cpu");
  const auto& name = options.device;
  const bool index_ok =
      name.size() == 6 && name.rfind("cuda:", 0) == 0 && std::isdigit(static_cast<unsigned char>(name[5]));
  if (name != "cpu" && name != "cuda" && !index_ok)
    input_error("--device: expected cpu, cuda or cuda:N, found {}", name);
  if (name != "cpu" && !has_cuda)
    input_error("--device: {} was asked for, but this build or machine has no CUDA", name);
  const auto device = of_this_process(name.c_str());
  if (device.is_cuda() && device.has_index() && device.index() >= count)
    input_error("--device: {} was asked for, but this machine has {} GPU{}", name, count, count == 1 ? "" : "s");
  return device;
}

void add_seed_option(CLI::App& command, std::optional<uint64_t>& seed) {
  // As in a configuration, whose numbers are exact up to 2^53. A negative one would wrap around.
  command.add_option("--seed", seed, "seed of all random numbers")
      ->check(CLI::Range(int64_t{0}, int64_t{9007199254740992}));
}

}  // namespace penumbra::app
