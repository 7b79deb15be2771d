#include "support/program.h"

#include <ATen/ATen.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "core/random.h"
#include "io/npy.h"
#include "support/paths.h"
#include "support/port.h"

namespace penumbra::test {
namespace fs = std::filesystem;
namespace {

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (auto& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// `variables`, "NAME=value", are added to the environment.
pid_t spawn(const std::vector<std::string>& args, const fs::path& out, const fs::path& err,
            std::vector<std::string> variables = {}) {
  std::vector<std::string> words{program().string()};
  words.insert(words.end(), args.begin(), args.end());
  for (char** variable = environ; *variable; ++variable) variables.emplace_back(*variable);
  const auto argv = pointers(words), envp = pointers(variables);
  const pid_t pid = fork();
  if (pid != 0) return pid;
  dup2(open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666), STDOUT_FILENO);
  dup2(open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666), STDERR_FILENO);
  execve(argv[0], argv.data(), envp.data());
  _exit(127);
}

/// One variable set a process. One thread each, as torchrun has it: the tests' machine may have two cores.
std::vector<std::vector<std::string>> places(int size) {
  const auto port = free_port();
  std::vector<std::vector<std::string>> places;
  for (int rank = 0; rank < size; ++rank)
    places.push_back({fmt::format("RANK={}", rank), fmt::format("LOCAL_RANK={}", rank),
                      fmt::format("WORLD_SIZE={}", size), "MASTER_ADDR=127.0.0.1", fmt::format("MASTER_PORT={}", port),
                      "OMP_NUM_THREADS=1", "PENUMBRA_TIMEOUT_S=60"});
  return places;
}

}  // namespace

int wait_for(pid_t pid) {
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

pid_t start(const std::vector<std::string>& args) { return spawn(args, "/dev/null", "/dev/null"); }

Result penumbra(const std::vector<std::string>& args) {
  const auto folder = scratch();
  const int code = wait_for(spawn(args, folder / "out", folder / "err"));
  return {code, read_text(folder / "out"), read_text(folder / "err")};
}

nlohmann::json info(const fs::path& path) {
  const auto result = penumbra({"info", path.string(), "--json"});
  EXPECT_EQ(result.code, 0) << result.err;
  return nlohmann::json::parse(result.out);
}

int kill_once_there(const std::vector<std::string>& args, const std::filesystem::path& sign) {
  const auto pid = start(args);
  for (int wait = 0; wait < 60'000 && !std::filesystem::exists(sign); ++wait) usleep(200);
  kill(pid, SIGKILL);
  return wait_for(pid);
}

void expect_resumed(const std::vector<std::string>& sample, const std::filesystem::path& run,
                    const std::filesystem::path& reference) {
  ASSERT_EQ(kill_once_there(sample, run / "checkpoint" / "5"), -SIGKILL);
  auto again = sample;
  again.push_back("--resume");
  const auto result = penumbra(again);
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.err.find("continuing after step"), std::string::npos) << result.err;
  for (const auto* name : {"samples.npy", "mean.npy", "sd.npy", "quantiles.npy"})
    EXPECT_EQ(read_text(run / name), read_text(reference / name)) << name;
}

std::vector<pid_t> start_team(int size, const std::vector<std::string>& args) {
  std::vector<pid_t> members;
  for (const auto& place : places(size)) members.push_back(spawn(args, "/dev/null", "/dev/null", place));
  return members;
}

std::vector<Result> penumbra_team(int size, const std::vector<std::string>& args) {
  return penumbra_team(std::vector(static_cast<size_t>(size), args));
}

std::vector<Result> penumbra_team(const std::vector<std::vector<std::string>>& args) {
  const auto folder = scratch();
  std::vector<pid_t> members;
  for (const auto& place : places(static_cast<int>(args.size())))
    members.push_back(spawn(args[members.size()], folder / (place[0] + ".out"), folder / (place[0] + ".err"), place));
  std::vector<Result> results;
  for (const auto member : members) {
    const auto name = fmt::format("RANK={}", results.size());
    const int code = wait_for(member);
    results.push_back({code, read_text(folder / (name + ".out")), read_text(folder / (name + ".err"))});
  }
  return results;
}

void write_text(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }

std::string read_text(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

fs::path small_problem(int steps) {
  const auto folder = scratch();
  write_text(folder / "config.yaml", fmt::format(R"(
prior: {{kind: random_field, side: 12, modes: 4}}
likelihood: {{kind: inpainting, fraction: 0.5, noise_sd: 0.1, data: y.npy}}
sampler:
  kind: apmc-pnp
  steps: {}
  step_size: 5e-4
  schedule: {{kind: geometric, sigma_0: 1, sigma_min: 0.05, xi: 0.8, alpha_0: 400}}
chains: 6
seed: 3
output: {{record_from: 10, record_every: 2}}
)",
                                                 steps));
  write_text(folder / "truth.yaml", "{kind: random_field, side: 12, modes: 4}");
  const auto truth =
      0.3 + 0.2 * normal({2, 0, 0}, Stream::probe, at::empty({1, 12, 12}, at::TensorOptions().dtype(at::kDouble)));
  io::write_npy(folder / "truth.npy", truth);
  const auto observed = penumbra({"observe", (folder / "config.yaml").string(), "--truth",
                                  (folder / "truth.npy").string(), "--out", (folder / "y.npy").string()});
  if (observed.code != 0) throw std::runtime_error(observed.err);
  return folder / "config.yaml";
}

}  // namespace penumbra::test
