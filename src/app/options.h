/// Options that several commands share.
#pragma once

#include <optional>
#include <string>

#include "app/command_line.h"
#include "core/tensor.h"

namespace penumbra::app {

struct MachineOptions {
  std::string device;  ///< empty: the GPU if this build and machine have one
  int threads = 0;     ///< 0: LibTorch's choice
  bool team = false;   ///< a process of several may be meant: the launcher's variables choose among the GPUs
};

/// --device and --threads.
void add_machine_options(CLI::App& command, MachineOptions& options);

/// Sets the number of threads and says where tensors go. Throws InputError on a device that is not there.
at::Device use_machine(const MachineOptions& options);

/// --seed.
void add_seed_option(CLI::App& command, std::optional<uint64_t>& seed);

}  // namespace penumbra::app
