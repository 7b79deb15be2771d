#include "app/sample_run.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "app/command.h"
#include "app/finished_run.h"
#include "app/own_folder.h"
#include "app/progress.h"
#include "app/provenance.h"
#include "app/run_files.h"
#include "app/same_configuration.h"
#include "core/error.h"
#include "io/file.h"
#include "io/lock.h"
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
  const uint64_t record = chains * pixels * 4;
  // The history holds at least eight records, whatever its limit.
  const uint64_t history = std::min(records * record, std::max<uint64_t>(problem.plan.history_bytes, 8 * record));
  const auto shared = static_cast<uint64_t>(problem.sampler->shared_count(problem.plan.chains)) * 8;
  const uint64_t states = problem.sampler->momentum() > 0 ? 2 : 1;
  const uint64_t checkpoint = chains * pixels * (states * per_pixel + 8) + history + pixels * 16 + shared;
  const uint64_t outputs = chains * pixels * 4 + pixels * 4 * 8;
  return 2 * checkpoint + 3 * outputs + (uint64_t{8} << 20);
}

/// A new folder is claimed; one that is there must hold the same run. The configuration is written last: a folder with
/// one has all that it needs.
void claim(const Problem& problem, const fs::path& folder, Resume resume) {
  if (!fs::exists(folder / "config.yaml")) {
    write_provenance(folder, problem);
    io::write_file(folder / "config.yaml", problem.resolved);
    return;
  }
  if (resume == Resume::no)
    input_error("{}: already holds a run; expected an empty folder (--resume continues a run)", folder.string());
  require_same_configuration(folder / "config.yaml", problem.resolved);
  require_same_provenance(folder, problem);
}

int report_divergence(const Problem& problem, const fs::path& folder, const ChainRun& run) {
  auto few = problem.plan;
  few.chains = std::min<int64_t>(4, few.chains);
  const auto limits = step_limits(problem, problem.initial_state(few).x, Levels::all);
  write_divergence(folder, problem, run, limits);
  drop_checkpoint(folder / "checkpoint");
  const auto summary = nlohmann::json::parse(io::read_file(folder / "summary.json"));
  fmt::print(stderr, "penumbra: {}\n", summary.value("verdict", "the chains diverged"));
  return diverged;
}

int report_interrupt(const Problem& problem, const fs::path& folder, const ChainRun& run) {
  run.trace().write(folder / "trace.csv");
  fmt::print(stderr, "penumbra: interrupted after step {} of {}; the state is saved, continue with --resume\n",
             run.state().k, problem.plan.steps);
  return interrupted;
}

int finish(const Problem& problem, const RunPlace& place, const ChainRun& run) {
  write_results(place.folder, problem, run);
  // The checkpoint goes last: until then a killed run can still be finished from it.
  drop_checkpoint(place.folder / "checkpoint");
  return place.say == Say::summary ? print_summary(place.folder) : success;
}

bool complete(const fs::path& folder) {
  return fs::exists(folder / "summary.json") && !fs::exists(folder / "checkpoint");
}

int report_complete(const RunPlace& place) {
  if (place.say == Say::nothing) return has_diverged(place.folder) ? diverged : success;
  fmt::print("{}: this run is complete\n", place.folder.string());
  return print_summary(place.folder);
}

}  // namespace

int sample_run(const Problem& problem, const RunPlace& place, const Team& team) {
  const auto& folder = place.folder;
  if (team.size() > problem.plan.chains)
    input_error("chains: {} cannot be shared by {} processes; launch at most one process a chain", problem.plan.chains,
                team.size());
  if (team.size() > 1 && problem.sampler->couples_chains())
    input_error("sampler.kind: {} keeps all chains together and cannot be shared by {} processes; launch one",
                problem.sampler_kind, team.size());
  const auto lead = [&](auto action) { return static_cast<int>(team.lead(action)); };
  std::optional<io::FolderLock> lock;
  const bool done = lead([&] {
    require_place_of_run(folder, place.prepared);
    io::require_writable(folder, bytes_needed(problem));
    lock.emplace(folder);
    claim(problem, folder, place.resume);
    return complete(folder);
  });
  if (done) return lead([&] { return report_complete(place); });

  ChainRun run(problem.plan, problem.posterior, *problem.sampler,
               problem.initial_state(problem.plan.share(team.rank(), team.size())), folder / "checkpoint", team);
  if (place.resume == Resume::yes) {
    const bool found = run.resume();
    if (team.leads() && found)
      fmt::print(stderr, "continuing after step {} of {}\n", run.state().k, problem.plan.steps);
    else if (team.leads())
      fmt::print(stderr, "{}: no checkpoint yet, starting at the first step\n", folder.string());
  }
  listen_for_interrupts();
  Outcome outcome;
  {
    Progress progress;
    if (team.leads()) run.after_step = [&](const ChainRun& now) { progress(now); };
    outcome = run.run();
  }
  if (outcome == Outcome::interrupted) return lead([&] { return report_interrupt(problem, folder, run); });
  if (outcome == Outcome::diverged) return lead([&] { return report_divergence(problem, folder, run); });
  run.gather();
  return lead([&] { return finish(problem, place, run); });
}

}  // namespace penumbra::app
