/// penumbra experiment runtime: seconds an iteration of every sampler, for 10 and for 50 samples (Table 7).
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>

#include "app/command.h"
#include "app/experiments/linear/run.h"
#include "io/file.h"
#include "run/graph_step.h"

namespace penumbra::app {
namespace {

using namespace linear;

/// The paper's, seconds on an A100 with the 256x256 network of 94 million parameters, for 10 and for 50 samples.
struct PaperSeconds {
  std::string ten, fifty;
};

PaperSeconds paper_seconds(const std::string& method, const std::string& task) {
  static const std::map<std::string, std::map<std::string, PaperSeconds>> table{
      {"PnP-ULA",
       {{"cs-0.1", {"0.1159", "0.5674"}},
        {"cs-0.3", {"0.1556", "0.7664"}},
        {"mri-8x", {"0.0969", "0.4677"}},
        {"mri-4x", {"0.0968", "0.4691"}}}},
      {"DPS",
       {{"cs-0.1", {"0.1178", "0.5657"}},
        {"cs-0.3", {"0.1561", "0.7615"}},
        {"mri-8x", {"0.1006", "0.4743"}},
        {"mri-4x", {"0.1008", "0.4720"}}}},
      {"APMC-RED",
       {{"cs-0.1", {"0.1163", "0.5675"}},
        {"cs-0.3", {"0.1543", "0.7668"}},
        {"mri-8x", {"0.0968", "0.4689"}},
        {"mri-4x", {"0.0967", "0.4686"}}}},
      {"APMC-PnP",
       {{"cs-0.1", {"0.1164", "0.5677"}},
        {"cs-0.3", {"0.1556", "0.7665"}},
        {"mri-8x", {"0.0967", "0.4693"}},
        {"mri-4x", {"0.0967", "0.4686"}}}},
  };
  // The paper times PnP-ULA once for its variants.
  return table.at(method.rfind("PnP-ULA", 0) == 0 ? "PnP-ULA" : method).at(task);
}

/// Reading one number waits for the device.
void wait_for(const Tensor& x) { x.flatten()[0].item<double>(); }

/// The median of single iterations, after a few to warm up.
double seconds_a_step(const Problem& problem, const Method& method, int64_t samples, int64_t iterations) {
  const c10::NoGradGuard no_gradients;
  const Posterior posterior{problem.likelihood(0, 1, samples), method.denoiser ? problem.denoiser : problem.prior};
  const auto prepared = prepare(method, posterior, 1);
  auto state = initial_state(prepared.start, *problem.prior, 1, 0, samples, problem.placement);
  // As `penumbra sample` takes it.
  GraphStep step(*prepared.sampler);
  std::vector<double> times;
  for (int64_t i = 0; i < iterations + 3 && state.k < prepared.steps; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    step(state);
    wait_for(state.x);
    if (i >= 3) times.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  std::nth_element(times.begin(), times.begin() + static_cast<int64_t>(times.size()) / 2, times.end());
  return times[times.size() / 2];
}

int run(const ExperimentOptions& options) {
  claim_folder("runtime", options, 1 << 20);
  const auto start = std::chrono::steady_clock::now();
  const int64_t iterations = options.quick ? 5 : 30;
  ProblemOptions setup;
  setup.count = 1;
  setup.denoiser = options.denoiser;
  setup.placement = {at::kFloat, options.device};
  TextTable table{{"method", "task", "10 samples s", "50 samples s", "paper 10", "paper 50"}, {}};
  auto tasks = cs_tasks(options.quick);
  for (auto& task : mri_tasks(options.quick)) tasks.push_back(std::move(task));
  for (const auto& task : tasks) {
    setup.images = task.subject == Subject::face ? options.faces : options.brains;
    const auto problem = make_problem(task, setup);
    for (const auto& method : methods(problem, options.quick, 1000)) {
      if (method.name == "TV" || method.denoiser || method.name.rfind("PMC", 0) == 0) continue;
      const auto paper = paper_seconds(method.name, task.key);
      table.rows.push_back(
          {method.name, task.label, fmt::format("{:.4f}", seconds_a_step(problem, method, 10, iterations)),
           fmt::format("{:.4f}", seconds_a_step(problem, method, 50, iterations)), paper.ten, paper.fifty});
      fmt::print("{:<12} {:<10} {} s, {} s\n", method.name, task.label, table.rows.back()[2], table.rows.back()[3]);
    }
  }
  const auto seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  io::write_file(options.out / "table.md",
                 fmt::format("# Seconds an iteration\n\nMedian of {} iterations, on {}; the paper's are of another "
                             "network (94 million parameters, 256 x 256) on an A100.\n\n{}",
                             iterations, device_in_words(options.device), markdown(table)));
  io::write_file(options.out / "table.csv", csv(table));
  write_record("runtime", options, {{"iterations", iterations}, {"device", options.device.str()}}, {}, seconds);
  fmt::print("\n{}", aligned(table));
  return success;
}

}  // namespace

extern const ExperimentEntry runtime_entry{"runtime", "seconds an iteration of every sampler (Table 7)", run};

}  // namespace penumbra::app
