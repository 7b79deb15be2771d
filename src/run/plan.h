/// How a run is carried out: how long, how many chains, what is recorded and how often the state is saved.
#pragma once

#include <cstdint>

namespace penumbra {

struct RunPlan {
  int64_t steps = 0;
  int64_t chains = 1;
  int64_t first_chain = 0;  ///< this process's first chain, where several share a run
  int64_t batch = 0;        ///< chains stepped together; 0: all
  int64_t record_from = 0;  ///< iterates after this many steps enter mean, SD, quantiles and diagnostics
  int64_t record_every = 1;
  int64_t trace_every = 1;
  double checkpoint_every_s = 60;
  int64_t checkpoint_every_steps = 0;  ///< 0: by time alone
  int64_t history_bytes = int64_t{256} << 20;
  double divergence_limit = 1e10;  ///< an iterate larger than this has diverged

  /// Whether the iterate after k steps is recorded; the last one always is.
  bool records(int64_t k) const { return k > record_from && (steps - k) % record_every == 0; }
  bool traces(int64_t k) const { return (steps - k) % trace_every == 0; }
};

}  // namespace penumbra
