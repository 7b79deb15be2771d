#include "theory/starting_points.h"

#include <cmath>
#include <limits>
#include <random>

namespace penumbra::theory {
namespace {

using Centres = std::vector<double>;

void append(Centres& centres, const Points& points, int64_t i) {
  centres.insert(centres.end(), points.x + i * points.n, points.x + (i + 1) * points.n);
}

std::vector<double> squared_distances(const Points& points, const Centres& centres) {
  std::vector<double> distances(points.N);
  for (int64_t i = 0; i < points.N; ++i) distances[i] = nearest(points, i, centres).second;
  return distances;
}

Centres farthest_first(const Points& points, int64_t count) {
  Centres mean(points.n);
  for (int64_t i = 0; i < points.N; ++i)
    for (int64_t a = 0; a < points.n; ++a) mean[a] += points.x[i * points.n + a] / static_cast<double>(points.N);
  Centres centres;
  for (int64_t j = 0; j < count; ++j) {
    const auto distances = squared_distances(points, j == 0 ? mean : centres);
    append(centres, points, std::max_element(distances.begin(), distances.end()) - distances.begin());
  }
  return centres;
}

Centres plus_plus(const Points& points, int64_t count, std::mt19937_64& bits) {
  const auto uniform = [&bits] { return static_cast<double>(bits() >> 11) * 0x1p-53; };
  Centres centres;
  append(centres, points, static_cast<int64_t>(uniform() * static_cast<double>(points.N)));
  for (int64_t j = 1; j < count; ++j) {
    const auto distances = squared_distances(points, centres);
    double total = 0, at = 0;
    for (const double d : distances) total += d;
    const double target = uniform() * total;
    int64_t chosen = 0;
    while (chosen + 1 < points.N && (at += distances[chosen]) <= target) ++chosen;
    append(centres, points, chosen);
  }
  return centres;
}

Centres lloyd(const Points& points, Centres centres, int64_t count) {
  std::vector<int64_t> labels(points.N, -1);
  for (int round = 0; round < 20; ++round) {
    bool changed = false;
    Centres sums(centres.size());
    std::vector<double> counts(count);
    for (int64_t i = 0; i < points.N; ++i) {
      const auto j = nearest(points, i, centres).first;
      changed = changed || j != labels[i];
      labels[i] = j;
      counts[j] += 1;
      for (int64_t a = 0; a < points.n; ++a) sums[j * points.n + a] += points.x[i * points.n + a];
    }
    if (!changed) break;
    for (int64_t j = 0; j < count; ++j)
      for (int64_t a = 0; a < points.n && counts[j] > 0; ++a)
        centres[j * points.n + a] = sums[j * points.n + a] / counts[j];
  }
  return centres;
}

}  // namespace

std::pair<int64_t, double> nearest(const Points& points, int64_t i, const std::vector<double>& centres) {
  std::pair<int64_t, double> best{0, std::numeric_limits<double>::infinity()};
  const int64_t count = static_cast<int64_t>(centres.size()) / points.n;
  for (int64_t j = 0; j < count; ++j) {
    double distance = 0;
    for (int64_t a = 0; a < points.n; ++a) {
      const double d = points.x[i * points.n + a] - centres[j * points.n + a];
      distance += d * d;
    }
    if (distance < best.second) best = {j, distance};
  }
  return best;
}

std::vector<std::vector<double>> starting_points(const Points& points, int64_t count, uint64_t seed) {
  std::mt19937_64 bits(seed);
  std::vector<Centres> sets{lloyd(points, farthest_first(points, count), count)};
  for (int i = 0; i < 3; ++i) sets.push_back(lloyd(points, plus_plus(points, count, bits), count));
  return sets;
}

}  // namespace penumbra::theory
