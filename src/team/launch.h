/// How a launcher (torchrun, srun, mpirun) tells a process its place among the processes of a run: by environment
/// variables.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace penumbra {

using Variables = std::map<std::string, std::string>;

struct Launch {
  int64_t rank = 0;
  int64_t size = 1;
  int64_t local_rank = 0;             ///< among the processes of this node: chooses the GPU
  std::string address = "127.0.0.1";  ///< where rank 0 can be reached
  uint16_t port = 0;
  std::string job;            ///< keeps runs apart that meet at one port
  int64_t timeout_s = 1800;   ///< how long to wait for the others: rank 0 may be writing a large run
  bool agent_serves = false;  ///< the store at address:port is the launcher's own, as torchrun's is
};

/// A process that nothing launched, or that was launched alone, is rank 0 of 1. Throws InputError naming the variable
/// that is malformed, missing or in contradiction to another.
Launch launch_from(const Variables& variables);

/// This process's variables.
Variables environment();

}  // namespace penumbra
