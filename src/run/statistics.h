/// What is kept of the recorded iterates: exact streaming moments, and a bounded, evenly thinned history.
#pragma once

#include <map>
#include <string>

#include "diagnostics/history.h"
#include "diagnostics/moments.h"

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

  std::map<std::string, Tensor> state() const;
  void restore(const std::map<std::string, Tensor>& state);

 private:
  diagnostics::RunningMoments moments_;
  diagnostics::History history_;
};

}  // namespace penumbra
