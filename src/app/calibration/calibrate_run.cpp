#include "app/calibration/calibrate_run.h"

#include <fmt/format.h>

#include "app/calibration/files.h"
#include "app/command.h"
#include "app/progress.h"
#include "app/provenance.h"
#include "app/same_configuration.h"
#include "core/error.h"
#include "io/file.h"
#include "io/lock.h"
#include "io/npy.h"
#include "run/interrupt.h"

namespace penumbra::app::calibration {
namespace {

namespace fs = std::filesystem;

/// A new folder is claimed; one that is there must hold the same calibration.
void claim(const fs::path& folder, const Problem& problem) {
  if (fs::exists(folder / "config.yaml")) {
    require_same_configuration(folder / "config.yaml", problem.resolved);
    return require_same_provenance(folder, problem);
  }
  write_provenance(folder, problem);
  io::write_file(folder / "config.yaml", problem.resolved);
}

uint64_t bytes_needed(const Calibrated& calibrated, size_t statistics) {
  const auto N = static_cast<uint64_t>(calibrated.plan.simulations);
  return N * (statistics * 300 + static_cast<uint64_t>(element_count(calibrated.subject.prior->image_shape())) * 8) +
         (uint64_t{4} << 20);
}

/// Kept, since those of a learned prior take time.
std::optional<Tensor> truths_of(const Calibrated& calibrated, const fs::path& file) {
  if (!fs::exists(file)) {
    const auto truths = draw_truths(calibrated.subject, calibrated.plan.simulations, calibrated.plan.truth_steps);
    if (!truths) return std::nullopt;
    io::write_npy(file, *truths);
  }
  const auto truths = io::read_npy(file);
  auto expected = calibrated.subject.prior->image_shape();
  expected.insert(expected.begin(), calibrated.plan.simulations);
  if (truths.sizes() != at::IntArrayRef(expected))
    input_error("{}: expected the calibration's truths, {}, found {}", file.string(), describe(expected),
                describe(truths.sizes()));
  return truths;
}

int report_divergence(const Calibrated& calibrated, int64_t first) {
  const auto last = std::min(first + calibrated.plan.batch, calibrated.plan.simulations) - 1;
  fmt::print(stderr,
             "penumbra: chains of the simulations {} to {} diverged; a sampler that diverges is not calibrated: "
             "expected a smaller sampler.step_size\n",
             first, last);
  return diverged;
}

void note_few_draws(const Calibrated& calibrated) {
  constexpr int64_t few = 10;
  if (calibrated.subject.draws() >= few) return;
  fmt::print(stderr, "penumbra: {} draws a simulation tell little of an interval of 90 %; chains: 16 or more would\n",
             calibrated.subject.draws());
}

/// All batches in turn; the exit code where it was stopped.
std::optional<int> run_batches(const Calibrated& calibrated, const Statistics& statistics, const Tensor& truths,
                               const fs::path& folder, Kept& all) {
  const auto& plan = calibrated.plan;
  const auto steps = calibrated.subject.plan.steps;
  Progress progress;
  for (int64_t first = 0; first < plan.simulations; first += plan.batch) {
    const auto count = std::min(plan.batch, plan.simulations - first);
    auto batch = find_kept(folder / "kept", first, count, static_cast<int64_t>(statistics.names().size()));
    if (!batch) {
      const auto show = [&](int64_t k) {
        progress.show(first * steps + k * count, plan.simulations * steps,
                      fmt::format("  {} of {} simulations done", first, plan.simulations));
      };
      auto done = simulate(calibrated.subject, statistics, truths, first, count, show);
      if (done.outcome == Outcome::diverged) return report_divergence(calibrated, first);
      if (done.outcome == Outcome::interrupted) {
        fmt::print(stderr, "penumbra: interrupted with {} of {} simulations done; the same command goes on\n", first,
                   plan.simulations);
        return app::interrupted;
      }
      batch = Kept{std::move(done.simulations), done.seconds};
      keep(folder / "kept", *batch);
    }
    all.seconds += batch->seconds;
    std::move(batch->simulations.begin(), batch->simulations.end(), std::back_inserter(all.simulations));
  }
  return std::nullopt;
}

void print_findings(const fs::path& folder, const Findings& findings, bool json) {
  if (json) {
    fmt::print("{}", io::read_file(folder / "calibration.json"));
    return;
  }
  fmt::print("{}\n{}\n", findings.verdict.text, findings.verdict.criterion);
  for (const auto* name : {"calibration.json", "ranks.csv", "report.html"})
    fmt::print("{}\n", (folder / name).string());
}

}  // namespace

int calibrate_run(const Calibrated& calibrated, const RunOptions& options) {
  const auto& folder = options.out;
  const Statistics statistics(calibrated.plan.statistics, calibrated.subject.prior->image_shape(),
                              truth_seed(calibrated.subject.seed));
  io::require_writable(folder, bytes_needed(calibrated, statistics.names().size()));
  const io::FolderLock lock(folder);
  claim(folder, calibrated.problem);
  note_few_draws(calibrated);
  listen_for_interrupts();
  const auto truths = truths_of(calibrated, folder / "truths.npy");
  if (!truths) {
    fmt::print(stderr, "penumbra: the prior's draws diverged with calibrate.truth_steps = {}\n",
               calibrated.plan.truth_steps);
    return diverged;
  }
  Findings findings{statistics.names(), {}, {}, {}};
  if (const auto stopped = run_batches(calibrated, statistics, *truths, folder, findings.all)) return *stopped;
  findings.calibration = diagnostics::calibration(collect(findings.all.simulations, calibrated.subject.draws()));
  findings.verdict = diagnostics::calibration_verdict(findings.calibration);
  write_findings(folder, calibrated, findings);
  print_findings(folder, findings, options.json);
  return options.require_calibrated && !findings.verdict.calibrated ? machine_failure : success;
}

}  // namespace penumbra::app::calibration
