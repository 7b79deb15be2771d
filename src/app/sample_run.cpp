#include "app/sample_run.h"

#include <fmt/format.h>

#include <sstream>

#include "app/command.h"
#include "app/progress.h"
#include "app/run_files.h"
#include "core/error.h"
#include "io/file.h"
#include "run/chain_run.h"
#include "run/interrupt.h"

namespace penumbra::app {
namespace fs = std::filesystem;
namespace {

/// Bytes that a run may need at once: the outputs, two checkpoints (the old one goes after the new one stands).
uint64_t bytes_needed(const Problem& problem) {
  const auto pixels = static_cast<uint64_t>(element_count(problem.posterior.image_shape()));
  const auto chains = static_cast<uint64_t>(problem.plan.chains);
  const uint64_t per_pixel = problem.placement.precision == at::kDouble ? 8 : 4;
  const auto records =
      static_cast<uint64_t>((problem.plan.steps - problem.plan.record_from) / problem.plan.record_every + 1);
  const uint64_t history = std::min<uint64_t>(records * chains * pixels * 4, problem.plan.history_bytes);
  const uint64_t checkpoint = chains * pixels * (per_pixel + 8) + history + pixels * 16;
  const uint64_t outputs = chains * pixels * 4 + pixels * 4 * 8;
  return 2 * checkpoint + 3 * outputs + (uint64_t{8} << 20);
}

/// The first line in which two configurations differ, for a message.
std::string first_difference(const std::string& a, const std::string& b) {
  std::istringstream in_a(a), in_b(b);
  std::string line_a, line_b;
  while (true) {
    const bool more_a = static_cast<bool>(std::getline(in_a, line_a)),
               more_b = static_cast<bool>(std::getline(in_b, line_b));
    if (!more_a) line_a = "(nothing)";
    if (!more_b) line_b = "(nothing)";
    if (line_a != line_b || (!more_a && !more_b)) return fmt::format("\"{}\" there, \"{}\" here", line_a, line_b);
  }
}

void claim_new(const fs::path& folder) {
  if (fs::exists(folder / "config.yaml"))
    input_error("{}: already holds a run; expected an empty folder (--resume continues a run)", folder.string());
}

void require_same_configuration(const Problem& problem, const fs::path& folder) {
  const auto there = io::read_file(folder / "config.yaml");
  if (there != problem.resolved)
    input_error("{}: is a run of another configuration: {}", (folder / "config.yaml").string(),
                first_difference(there, problem.resolved));
}

}  // namespace

int sample_run(const Problem& problem, const fs::path& folder, Resume resume) {
  const bool known = fs::exists(folder / "config.yaml");
  if (resume == Resume::no) claim_new(folder);
  if (resume == Resume::yes && known) require_same_configuration(problem, folder);
  if (known && fs::exists(folder / "summary.json") && !fs::exists(folder / "checkpoint")) {
    fmt::print("{}: this run is complete\n", folder.string());
    print_summary(folder);
    return success;
  }
  io::require_writable(folder, bytes_needed(problem));
  if (!known) io::write_file(folder / "config.yaml", problem.resolved);

  ChainRun run(problem.plan, problem.posterior, *problem.sampler, problem.initial_state(), folder / "checkpoint");
  if (resume == Resume::yes) {
    if (run.resume())
      fmt::print(stderr, "continuing after step {} of {}\n", run.state().k, problem.plan.steps);
    else
      fmt::print(stderr, "{}: no checkpoint yet, starting at the first step\n", folder.string());
  }
  listen_for_interrupts();
  Outcome outcome;
  {
    Progress progress;
    run.after_step = [&](const ChainRun& now) { progress(now); };
    outcome = run.run();
  }
  if (outcome == Outcome::interrupted) {
    run.trace().write(folder / "trace.csv");
    fmt::print(stderr, "penumbra: interrupted after step {} of {}; the state is saved, continue with --resume\n",
               run.state().k, problem.plan.steps);
    return interrupted;
  }
  if (outcome == Outcome::diverged) {
    const auto limits = step_limits(problem, problem.initial_state().x);
    write_divergence(folder, problem, run, limits);
    const auto advice = limits.stability ? fmt::format("; a step below {:.3g} would be stable", *limits.stability) : "";
    fmt::print(stderr, "penumbra: the chains diverged at iteration {} with step_size {:g}{}\n", run.state().k,
               problem.sampler->step_size(), advice);
    return diverged;
  }
  write_results(folder, problem, run);
  // The checkpoint goes last: until then a killed run can still be finished from it.
  fs::remove_all(folder / "checkpoint");
  print_summary(folder);
  return success;
}

}  // namespace penumbra::app
