#include "app/experiments/record.h"

#include <ATen/Parallel.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/utsname.h>
#include <torch/version.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "app/json.h"
#include "app/own_folder.h"
#include "io/file.h"

namespace penumbra::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr auto name_of_begun = "experiment.begun", name_of_record = "run.json";

/// The experiment that the folder is of, as far as a file of ours says; else nothing.
std::string experiment_in(const fs::path& folder) {
  if (const auto path = folder / name_of_record; fs::exists(path)) {
    const auto record = json::parse(io::read_file(path), nullptr, false);
    const auto name = record.is_object() ? record.value("experiment", json()) : json();
    return name.is_string() ? name.get<std::string>() : "";
  }
  const auto path = folder / name_of_begun;
  return fs::exists(path) ? io::read_file(path) : "";
}

/// What stands behind the first `key:` of a file of Linux, or "unknown".
std::string told(const fs::path& path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (line.rfind(key, 0) == 0) {
      const auto at = line.find_first_not_of(" \t", line.find(':') + 1);
      return at == line.npos ? "unknown" : line.substr(at);
    }
  return "unknown";
}

/// The NVIDIA driver's names of its cards. LibTorch tells them, too, but not one that was built without CUDA.
std::vector<std::string> graphics_cards() {
  std::vector<std::string> names;
  std::error_code none;
  for (const auto& card : fs::directory_iterator("/proc/driver/nvidia/gpus", none))
    names.push_back(told(card.path() / "information", "Model"));
  return names;
}

json machine() {
  utsname system{};
  uname(&system);
  return {{"system", fmt::format("{} {} {}", system.sysname, system.release, system.machine)},
          // A time without these says little.
          {"processor", told("/proc/cpuinfo", "model name")},
          {"graphics_cards", graphics_cards()},
          {"cores", std::thread::hardware_concurrency()},
          {"threads", at::get_num_threads()}};
}

}  // namespace

std::string device_in_words(const at::Device& device) {
  if (!device.is_cuda()) return told("/proc/cpuinfo", "model name");
  const auto cards = graphics_cards();
  return cards.empty()
             ? device.str()
             : cards[std::min(cards.size() - 1, static_cast<size_t>(std::max(0, static_cast<int>(device.index()))))];
}

void claim_folder(const std::string& experiment, const ExperimentOptions& options, uint64_t bytes) {
  if (experiment_in(options.out) != experiment)
    require_nothing_but(options.out, {name_of_begun},
                        fmt::format("a new or empty folder, or that of the experiment {}", experiment));
  io::require_writable(options.out, bytes);
  if (!fs::exists(options.out / name_of_record)) io::write_file(options.out / name_of_begun, experiment);
}

std::optional<json> kept_record(const fs::path& path, const std::string& fingerprint) {
  if (!fs::exists(path)) return std::nullopt;
  auto found = json::parse(io::read_file(path), nullptr, false);
  if (found.is_discarded() || found.value("fingerprint", "") != fingerprint) return std::nullopt;
  return found;
}

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
  io::write_file(options.out / name_of_record, json_text(record, 2) + "\n");
  fs::remove(options.out / name_of_begun);
}

}  // namespace penumbra::app
