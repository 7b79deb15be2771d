/// penumbra experiment runtime: seconds an iteration of every sampler, for 10 and for 50 samples (Table 7).
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "app/command.h"
#include "app/experiments/linear/run.h"
#include "io/file.h"

namespace penumbra::app {
namespace {

using namespace linear;

/// The paper's, seconds on an A100 with the 256x256 network of 94 million parameters.
double paper_seconds(const std::string& method, const std::string& task, bool fifty) {
  const bool hard = task == "cs-0.1" || task == "mri-8x", cs = task[0] == 'c';
  if (method == "DPS") return cs ? hard ? fifty ? 0.5657 : 0.1178 : fifty ? 0.7615 : 0.1561 : fifty ? 0.473 : 0.101;
  return cs ? hard ? fifty ? 0.5676 : 0.1163 : fifty ? 0.7666 : 0.1552 : fifty ? 0.469 : 0.097;
}

/// Reading one number waits for the device.
void wait_for(const Tensor& x) { x.flatten()[0].item<double>(); }

/// The median of single iterations, after a few to warm up.
double seconds_a_step(const Problem& problem, const Method& method, int64_t samples, int64_t iterations) {
  const c10::NoGradGuard no_gradients;
  const Posterior posterior{problem.likelihood(0, 1, samples), method.denoiser ? problem.denoiser : problem.prior};
  const auto prepared = prepare(method, posterior, 1);
  auto state = initial_state(prepared.start, *problem.prior, 1, 0, samples, problem.placement);
  std::vector<double> times;
  for (int64_t i = 0; i < iterations + 3 && state.k < prepared.steps; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    prepared.sampler->step(state);
    wait_for(state.x);
    if (i >= 3) times.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  std::nth_element(times.begin(), times.begin() + static_cast<int64_t>(times.size()) / 2, times.end());
  return times[times.size() / 2];
}

int run(const ExperimentOptions& options) {
  io::require_writable(options.out, 1 << 20);
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
      table.rows.push_back({method.name, task.label,
                            fmt::format("{:.4f}", seconds_a_step(problem, method, 10, iterations)),
                            fmt::format("{:.4f}", seconds_a_step(problem, method, 50, iterations)),
                            fmt::format("{:.4f}", paper_seconds(method.name, task.key, false)),
                            fmt::format("{:.4f}", paper_seconds(method.name, task.key, true))});
      fmt::print("{:<12} {:<10} {} s, {} s\n", method.name, task.label, table.rows.back()[2], table.rows.back()[3]);
    }
  }
  const auto seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  io::write_file(options.out / "table.md",
                 fmt::format("# Seconds an iteration\n\nMedian of {} iterations, on {}; the paper's are of another "
                             "network (94 million parameters, 256 x 256) on an A100.\n\n{}",
                             iterations, options.device.str(), markdown(table)));
  io::write_file(options.out / "table.csv", csv(table));
  write_record("runtime", options, {{"iterations", iterations}, {"device", options.device.str()}}, {}, seconds);
  fmt::print("\n{}", aligned(table));
  return success;
}

}  // namespace

extern const ExperimentEntry runtime_entry{"runtime", "seconds an iteration of every sampler (Table 7)", run};

}  // namespace penumbra::app
