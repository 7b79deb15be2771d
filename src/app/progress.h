/// A line of progress on a terminal, with an estimate of the time left; silent where stderr is no terminal.
#pragma once

#include <chrono>

#include "run/chain_run.h"

namespace penumbra::app {

class Progress {
 public:
  Progress();
  ~Progress();
  void operator()(const ChainRun& run);
  /// k of so many steps are done; `course` is shown between the percentage and the rate.
  void show(int64_t k, int64_t steps, const std::string& course = {}, const std::string& unit = "steps");
  /// So many are done of a work whose end is not known beforehand: "mode odds: 1200 scores taken".
  void count(int64_t done, const std::string& what);

 private:
  using Clock = std::chrono::steady_clock;
  bool terminal_;
  bool written_ = false;
  Clock::time_point start_ = Clock::now(), last_;
  int64_t first_k_ = -1;
};

/// "1:02:03" or "4:05".
std::string clock_time(double seconds);

}  // namespace penumbra::app
