/// The visibilities of one time as a graph: stations and the baselines between them.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "vlbi/observation.h"

namespace penumbra::vlbi {

struct Leg {
  int64_t row = 0;
  int sign = 1;  ///< -1 where the row holds the conjugate, V of (b, a)
};

class Snapshot {
 public:
  /// The rows [begin, end) of an observation, all of one time; those without a phase (zero, not finite) are left out.
  Snapshot(const Observation& observation, size_t begin, size_t end);

  /// In the order of Observation::stations.
  const std::vector<int>& stations() const { return stations_; }
  size_t baselines() const { return rows_.size(); }
  std::optional<Leg> leg(int a, int b) const;
  /// 0, 1, ... for the baselines of this snapshot.
  size_t column(const Leg& leg) const { return columns_.at(leg.row); }

  /// Connected parts of the graph; `odd` counts those that have an odd cycle.
  struct Components {
    int64_t all = 0, odd = 0;
  };
  Components components() const;

 private:
  std::vector<int> stations_;
  std::map<std::pair<int, int>, int64_t> rows_;
  std::map<int64_t, size_t> columns_;
};

/// One for each run of rows with equal times.
std::vector<Snapshot> snapshots(const Observation& observation);

}  // namespace penumbra::vlbi
