#include "app/experiments/record.h"

#include <ATen/Parallel.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/utsname.h>
#include <torch/version.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "io/file.h"

namespace penumbra::app {
namespace {

using nlohmann::json;

/// The processor's name where Linux tells it; a time without it says little.
std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.rfind("model name", 0) == 0) return line.substr(std::min(line.find(':') + 2, line.size()));
  return "unknown";
}

json machine() {
  utsname system{};
  uname(&system);
  return {{"system", fmt::format("{} {} {}", system.sysname, system.release, system.machine)},
          {"processor", processor()},
          {"cores", std::thread::hardware_concurrency()},
          {"threads", at::get_num_threads()}};
}

}  // namespace

bool all_passed(const std::vector<Check>& checks) {
  return std::all_of(checks.begin(), checks.end(), [](const Check& check) { return check.passed; });
}

void print_checks(const std::vector<Check>& checks) {
  size_t passed = 0;
  for (const auto& check : checks) {
    passed += check.passed;
    if (!check.passed) fmt::print("FAILED  {}: {}\n", check.claim, check.detail);
  }
  fmt::print("{} of {} checks passed\n", passed, checks.size());
}

std::vector<std::pair<report::Badge, std::string>> findings(const std::vector<Check>& checks) {
  std::vector<std::pair<report::Badge, std::string>> list;
  for (const auto& [claim, passed, detail] : checks)
    list.push_back({passed ? report::Badge{report::Level::good, "holds"} : report::Badge{report::Level::bad, "fails"},
                    detail.empty() ? claim : claim + ": " + detail});
  return list;
}

void write_record(const std::string& experiment, const ExperimentOptions& options, const json& settings,
                  const std::vector<Check>& checks, double seconds) {
  auto list = json::array();
  for (const auto& [claim, passed, detail] : checks)
    list.push_back({{"claim", claim}, {"passed", passed}, {"detail", detail}});
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  const json record{{"experiment", experiment},
                    {"program", {{"name", "penumbra"}, {"version", PENUMBRA_VERSION}, {"libtorch", TORCH_VERSION}}},
                    {"machine", machine()},
                    {"seed", options.seed},
                    {"quick", options.quick},
                    {"settings", settings},
                    {"seconds", seconds},
                    {"finished", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now))},
                    {"passed", all_passed(checks)},
                    {"checks", list}};
  io::write_file(options.out / "run.json", record.dump(2) + "\n");
}

}  // namespace penumbra::app
