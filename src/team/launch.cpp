#include "team/launch.h"

#include <charconv>
#include <limits>
#include <optional>

#include "core/error.h"

extern char** environ;

namespace penumbra {
namespace {

/// The variables of one launcher; an empty name is one that it does not set.
struct Dialect {
  const char *rank, *size, *local_rank, *local_size;
};

constexpr Dialect torchrun{"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"};
constexpr Dialect open_mpi{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
                           "OMPI_COMM_WORLD_LOCAL_SIZE"};
constexpr Dialect mpich{"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"};
constexpr Dialect slurm{"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", ""};

std::optional<std::string> find(const Variables& variables, const std::string& name) {
  const auto found = variables.find(name);
  if (found == variables.end() || found->second.empty()) return std::nullopt;
  return found->second;
}

std::optional<int64_t> find_integer(const Variables& variables, const std::string& name, int64_t low, int64_t high) {
  const auto text = find(variables, name);
  if (!text) return std::nullopt;
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc{} || end != text->data() + text->size() || value < low || value > high)
    input_error("environment variable {}: expected an integer from {} to {}, found \"{}\"", name, low, high, *text);
  return value;
}

/// A batch script itself has SLURM_PROCID and SLURM_NTASKS too; only what srun starts is in a step. So is what MPICH's
/// mpirun starts through srun, which has the number of processes on the node as well.
bool started_by_srun(const Variables& variables) {
  return find(variables, slurm.rank) && find(variables, "SLURM_STEP_NODELIST") && !find(variables, mpich.local_size);
}

/// Slurm's come late: what mpirun starts inside a Slurm job inherits the batch script's SLURM_PROCID = 0.
const Dialect* spoken(const Variables& variables) {
  const auto speaks = [&](const Dialect& d) { return find(variables, d.rank) || find(variables, d.size); };
  if (speaks(torchrun)) return &torchrun;
  if (speaks(open_mpi)) return &open_mpi;
  if (started_by_srun(variables)) return &slurm;
  return speaks(mpich) ? &mpich : nullptr;
}

/// "gpu[07-12,20],login1" -> "gpu07".
std::string first_host(const std::string& nodes) {
  const auto end = nodes.find_first_of("[,");
  auto host = nodes.substr(0, end);
  if (end != std::string::npos && nodes[end] == '[')
    host += nodes.substr(end + 1, nodes.find_first_of(",-]", end) - end - 1);
  return host;
}

std::optional<std::string> slurm_address(const Variables& variables, int64_t size) {
  if (find_integer(variables, "SLURM_STEP_NUM_NODES", 1, size) == 1) return "127.0.0.1";
  const auto host = first_host(variables.at("SLURM_STEP_NODELIST"));
  // Where the list cannot be read: the node that srun was called on, rank 0's if a batch script called it.
  return host.empty() ? find(variables, "SLURM_LAUNCH_NODE_IPADDR") : host;
}

/// Where rank 0 listens.
std::string address_of(const Variables& variables, const Dialect& dialect, int64_t size) {
  if (const auto given = find(variables, "MASTER_ADDR")) return *given;
  if (find_integer(variables, dialect.local_size, 1, size) == size) return "127.0.0.1";
  if (&dialect == &slurm)
    if (const auto address = slurm_address(variables, size)) return *address;
  input_error(
      "environment variable MASTER_ADDR: not set, though {} is {} and nothing says that all processes run on one node; "
      "expected the host of rank 0, the same for all processes (127.0.0.1 where they share a node)",
      dialect.size, size);
}

std::string job_of(const Variables& variables) {
  std::string job;
  for (const auto* name : {"TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT", "SLURM_JOB_ID", "SLURM_STEP_ID",
                           "PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "PMI_JOBID"})
    job += find(variables, name).value_or("") + "/";
  return job;
}

/// Jobs that share a node should not meet at one port. Below 32768, where systems take ports for outgoing connections.
uint16_t port_of(const Variables& variables, const std::string& job) {
  for (const auto* name : {"MASTER_PORT", "PENUMBRA_PORT"})
    if (const auto given = find_integer(variables, name, 1, 65535)) return static_cast<uint16_t>(*given);
  uint32_t hash = 2166136261;  // FNV-1a: the same on every node, which std::hash does not promise
  for (const unsigned char letter : job) hash = (hash ^ letter) * 16777619;
  return static_cast<uint16_t>(15000 + hash % 15000);
}

}  // namespace

Launch launch_from(const Variables& variables) {
  const auto* dialect = spoken(variables);
  if (!dialect) return {};
  constexpr int64_t most = std::numeric_limits<int>::max();
  Launch launch;
  const auto size = find_integer(variables, dialect->size, 1, most);
  if (!size) input_error("environment variable {}: missing, though {} is set", dialect->size, dialect->rank);
  const auto rank = find_integer(variables, dialect->rank, 0, most);
  if (!rank) input_error("environment variable {}: missing, though {} is set", dialect->rank, dialect->size);
  if (*rank >= *size)
    input_error("environment variable {}: expected less than {} = {}, found {}", dialect->rank, dialect->size, *size,
                *rank);
  launch.rank = *rank;
  launch.size = *size;
  launch.local_rank = find_integer(variables, dialect->local_rank, 0, *size - 1).value_or(*rank);
  if (launch.size == 1) return launch;
  launch.address = address_of(variables, *dialect, *size);
  launch.job = job_of(variables);
  launch.port = port_of(variables, launch.job);
  launch.timeout_s = find_integer(variables, "PENUMBRA_TIMEOUT_S", 1, 1'000'000).value_or(launch.timeout_s);
  launch.agent_serves = find(variables, "TORCHELASTIC_USE_AGENT_STORE") == "True";
  return launch;
}

Variables environment() {
  Variables variables;
  for (char** entry = environ; *entry; ++entry) {
    const std::string text = *entry;
    const auto equals = text.find('=');
    if (equals != std::string::npos) variables[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return variables;
}

}  // namespace penumbra
