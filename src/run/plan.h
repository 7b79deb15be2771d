/// How a run is carried out: how long, how many chains, what is recorded and how often the state is saved.
#pragma once

#include <algorithm>
#include <cstdint>

namespace penumbra {

struct RunPlan {
  int64_t steps = 0;
  int64_t chains = 1;
  int64_t first_chain = 0;  ///< the number of the first chain
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

  /// What process `rank` of `size` does: consecutive chains, one more in the first processes where they do not divide.
  RunPlan share(int64_t rank, int64_t size) const {
    auto part = *this;
    part.chains = chains / size + (rank < chains % size ? 1 : 0);
    part.first_chain = first_chain + chains / size * rank + std::min(rank, chains % size);
    // In proportion, rounded down: then a history of the part holds exactly as many records as one of the whole.
    part.history_bytes = history_bytes / chains * part.chains + history_bytes % chains * part.chains / chains;
    return part;
  }
};

}  // namespace penumbra
