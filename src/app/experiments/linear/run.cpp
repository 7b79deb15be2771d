#include "app/experiments/linear/run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>

#include "app/experiments/linear/method_file.h"
#include "app/progress.h"
#include "core/error.h"
#include "core/nearest.h"
#include "io/checksum.h"
#include "io/file.h"
#include "run/interrupt.h"

namespace penumbra::app::linear {
namespace {

std::vector<Task> chosen(const std::vector<Task>& tasks, const std::vector<std::string>& keys) {
  if (keys.empty()) return tasks;
  std::vector<std::string> known;
  for (const auto& task : tasks) known.push_back(task.key);
  for (const auto& key : keys)
    if (std::find(known.begin(), known.end(), key) == known.end())
      input_error("--task: expected one of {}, found {}", fmt::join(known, ", "), excerpt(key));
  std::vector<Task> result;
  for (const auto& task : tasks)
    if (std::find(keys.begin(), keys.end(), task.key) != keys.end()) result.push_back(task);
  return result;
}

std::string digests(const std::vector<std::filesystem::path>& files) {
  std::string text;
  for (const auto& file : files) text += fmt::format(" {}", io::format_checksum(io::checksum(io::read_file(file))));
  return text;
}

}  // namespace

std::string fingerprint(const Problem& problem, const Method& method, const SamplingOptions& sampling) {
  const Posterior posterior{problem.likelihood(0, 1, 1), method.denoiser ? problem.denoiser : problem.prior};
  const auto prepared = prepare(method, posterior, sampling.seed);
  return fmt::format("{} | {} | {} | {} | {} images | {} | {} chains | seed {} | {} |{}{}", PENUMBRA_VERSION,
                     problem.task.model, problem.task.prior, prepared.resolved, problem.truths.size(0),
                     problem.fingerprint, sampling.chains, sampling.seed, method.denoiser ? problem.denoiser_name : "",
                     digests(problem.files), digests(prepared.files));
}

Comparison compare_methods(const std::string& experiment, const std::string& title, const std::vector<Task>& tasks,
                           MakeMethods methods, const ExperimentOptions& options) {
  claim_folder(experiment, options, 64 << 20);
  const SamplingOptions sampling{.chains = options.chains > 0 ? options.chains
                                           : options.quick    ? 4
                                                              : 20,
                                 .seed = options.seed};
  ProblemOptions setup;
  setup.denoiser = options.denoiser;
  setup.count = options.count > 0 ? options.count : options.quick ? 2 : 10;
  setup.seed = options.seed;
  setup.placement = {at::kFloat, options.device};
  Comparison comparison{experiment, title, {}, {}, 0};
  listen_for_interrupts();
  const auto own = options.methods.empty() ? std::vector<Method>() : read_methods(options.methods);
  for (const auto& task : chosen(tasks, options.tasks)) {
    setup.images = task.subject == Subject::face ? options.faces : options.brains;
    TaskResults results{make_problem(task, setup), {}};
    Progress progress;
    for (const auto& method : own.empty() ? methods(results.problem, options.quick, options.steps) : own) {
      const auto key = task.key + "." + method.name;
      const auto made_from = fingerprint(results.problem, method, sampling);
      auto done = kept(options.out / "kept", key, made_from);
      if (!done) {
        done = reconstruct(results.problem, method, sampling, [&](const std::string& name, int64_t k, int64_t steps) {
          if (penumbra::interrupted()) input_error("{}: interrupted; the same command goes on", options.out.string());
          progress.show(k, steps, fmt::format("  {} {}", task.label, name));
        });
        keep(*done, options.out / "kept", key, made_from);
      }
      fmt::print("{:<10} {:<12} {:6.2f} dB  NLL {:7.3f}  in 3 SD {:.3f}  {:.1f} s\n", task.label, method.name,
                 done->average(&Quality::psnr), done->average(&Quality::nll), done->average(&Quality::coverage),
                 done->seconds);
      std::fflush(stdout);
      results.reconstructions.push_back(std::move(*done));
    }
    comparison.tasks.push_back(std::move(results));
  }
  for (const auto& task : comparison.tasks)
    for (const auto& r : task.reconstructions) comparison.seconds += r.seconds;
  return comparison;
}

}  // namespace penumbra::app::linear
