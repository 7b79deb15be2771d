/// What is kept of the recorded iterates: exact streaming moments, and a bounded, evenly thinned history.
#pragma once

#include <map>
#include <string>

#include "diagnostics/history.h"
#include "diagnostics/moments.h"
#include "team/team.h"

namespace penumbra {

class Statistics {
 public:
  explicit Statistics(int64_t history_bytes) : history_(history_bytes) {}

  void add(const Tensor& x) {
    moments_.add(x);
    history_.add(x);
  }

  const diagnostics::RunningMoments& moments() const { return moments_; }
  const diagnostics::History& history() const { return history_; }

  /// Of the chains of all processes together; on rank 0.
  std::map<std::string, Tensor> state(const Team& team = Team::alone()) const;
  /// Takes `count` chains from number `first` on out of such a state.
  void restore(std::map<std::string, Tensor> state, int64_t first, int64_t count);

 private:
  diagnostics::RunningMoments moments_;
  diagnostics::History history_;
};

}  // namespace penumbra
