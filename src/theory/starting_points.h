/// Centres from which expectation maximisation starts.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace penumbra::theory {

/// N points of n coordinates, row after row.
struct Points {
  const double* x;
  int64_t N, n;
};

/// The centre nearest to point i and the squared distance to it; centres are [J, n] row after row.
std::pair<int64_t, double> nearest(const Points& points, int64_t i, const std::vector<double>& centres);

/// Several sets of `count` centres after Lloyd's iteration: one farthest-first, which sees a small far group, and
/// three by k-means++ with a fixed seed.
std::vector<std::vector<double>> starting_points(const Points& points, int64_t count, uint64_t seed);

}  // namespace penumbra::theory
