/// Running the program as a user would.
#pragma once

#include <sys/types.h>

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <vector>

#include "core/tensor.h"

namespace penumbra::test {

struct Result {
  int code = 0;
  std::string out, err;
};

/// Runs `penumbra args...` to its end.
Result penumbra(const std::vector<std::string>& args);

/// What `penumbra info path --json` says.
nlohmann::json info(const std::filesystem::path& path);

/// Starts `penumbra args...` in the background; its output goes nowhere.
pid_t start(const std::vector<std::string>& args);

/// Waits; the exit code, or minus the signal that ended it.
int wait_for(pid_t pid);

/// Starts `penumbra args...` and kills it, SIGKILL, once `sign` is there; how it ended, as wait_for says.
int kill_once_there(const std::vector<std::string>& args, const std::filesystem::path& sign);

/// Kills the run that `sample` makes in `run` at its fifth checkpoint, resumes it, and expects `reference`'s results.
void expect_resumed(const std::vector<std::string>& sample, const std::filesystem::path& run,
                    const std::filesystem::path& reference);

/// `penumbra args...` as `size` processes that make one run, launched as torchrun does; in the order of their ranks.
std::vector<pid_t> start_team(int size, const std::vector<std::string>& args);
std::vector<Result> penumbra_team(int size, const std::vector<std::string>& args);
/// The same with the arguments of each process.
std::vector<Result> penumbra_team(const std::vector<std::vector<std::string>>& args);

void write_text(const std::filesystem::path& path, const std::string& text);
std::string read_text(const std::filesystem::path& path);

/// A small inpainting problem in a new folder, 12x12 with the built-in prior; the path of its config.yaml.
std::filesystem::path small_problem(int steps = 40);

}  // namespace penumbra::test
