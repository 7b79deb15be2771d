/// The one loop: steps all chains together, records, traces, saves, and stops when asked, done or diverged.
#pragma once

#include <filesystem>
#include <functional>

#include "run/plan.h"
#include "run/statistics.h"
#include "run/trace.h"
#include "samplers/sampler.h"

namespace penumbra {

enum class Outcome { finished, interrupted, diverged };

class ChainRun {
 public:
  /// Checkpoints go under `checkpoint_folder`; an empty path keeps the run in memory.
  ChainRun(RunPlan plan, const Posterior& posterior, const Sampler& sampler, ChainState start,
           std::filesystem::path checkpoint_folder = {});

  /// Continues from the newest checkpoint; false where there is none.
  bool resume();

  Outcome run();

  /// Called after every step, for progress; the trace's last row may be older than the state.
  std::function<void(const ChainRun&)> after_step = [](const ChainRun&) {};

  const RunPlan& plan() const { return plan_; }
  const ChainState& state() const { return state_; }
  const Statistics& statistics() const { return statistics_; }
  const Trace& trace() const { return trace_; }
  double seconds() const { return seconds_; }

 private:
  StepInfo step_all();
  bool diverged() const;
  TraceRow trace_row(const StepInfo& info) const;
  void save();

  RunPlan plan_;
  const Posterior& posterior_;
  const Sampler& sampler_;
  ChainState state_;
  std::filesystem::path checkpoint_folder_;
  Statistics statistics_;
  Trace trace_;
  double seconds_ = 0;
};

}  // namespace penumbra
