/// The one loop: steps all chains together, each process its own, records, traces, saves, and stops when asked, done or
/// diverged.
#pragma once

#include <filesystem>
#include <functional>

#include "run/checkpoint.h"
#include "run/graph_step.h"
#include "run/plan.h"
#include "run/statistics.h"
#include "run/trace.h"
#include "samplers/sampler.h"
#include "team/team.h"

namespace penumbra {

enum class Outcome { finished, interrupted, diverged };

class ChainRun {
 public:
  /// `plan` is that of all processes, `start` holds the chains of this one: plan.share(rank, size). Checkpoints go
  /// under `checkpoint_folder`; an empty path keeps the run in memory.
  ChainRun(RunPlan plan, const Posterior& posterior, const Sampler& sampler, ChainState start,
           std::filesystem::path checkpoint_folder = {}, Team team = Team::alone());

  /// Continues from the newest checkpoint, by any number of processes; false where there is none.
  bool resume();

  /// Ends in all processes with the same outcome after the same step.
  Outcome run();

  /// Lets rank 0 have the chains and statistics of all processes.
  void gather();

  /// Called after every step, for progress; the trace's last row may be older than the state.
  std::function<void(const ChainRun&)> after_step = [](const ChainRun&) {};

  const RunPlan& plan() const { return plan_; }
  const Team& team() const { return team_; }
  /// What the iterates stand for, chain by chain.
  Tensor images() const;
  const ChainState& state() const { return state_; }
  const Statistics& statistics() const { return statistics_; }
  const Trace& trace() const { return trace_; }
  double seconds() const { return seconds_; }
  /// How a GPU took the last step: "CUDA graph", or why not; empty on a CPU.
  const std::string& step_mode() const { return step_mode_; }

 private:
  struct Findings {
    bool diverged, stop, due;
  };

  StepInfo step_all();
  Findings findings(double last_save) const;
  TraceRow trace_row(const StepInfo& info) const;
  double spread() const;
  Checkpoint checkpoint() const;
  void adopt(const Checkpoint& checkpoint, const RunPlan& part);
  void save();

  Team team_;
  RunPlan plan_, own_;
  const Posterior& posterior_;
  const Sampler& sampler_;
  GraphStep graph_step_;
  std::string step_mode_;
  ChainState state_;
  std::filesystem::path checkpoint_folder_;
  Statistics statistics_;
  Trace trace_;
  double seconds_ = 0;
};

}  // namespace penumbra
